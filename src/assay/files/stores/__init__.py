"""Object stores: any address that fsspec knows (s3://, gs://, hf://, memory://), read and written as local copies.

    addresses   what an address is, and where its copy stands
    objects     the store itself: get, put, list; every failure in one line
    copies      what is read is copied here first, and checked
    commits     what is written is put there when it is complete
    leases      one writer at a time
    runs        a run is one when its manifest is there, which is put last
    mirrors     training runs, which other libraries write: made here, kept there
    doors       addresses become copies where they come in: arguments of verbs, and of the command line

Everything between the doors and the writing of files sees local paths and knows nothing of stores.
"""
