"""An oracle: how lm-evaluation-harness cuts a text, as it stands in lm_eval/utils.py, version 0.4.13."""

from collections.abc import Iterator

Tokens = list[int]


def get_rolling_token_windows(
    token_list: Tokens, prefix_token: int, max_seq_len: int, context_len: int
) -> Iterator[tuple[Tokens, Tokens]]:
    """(input_tokens, pred_tokens) of each window."""
    assert 1 <= context_len <= max_seq_len
    if not token_list:
        return
    # +1 offset, going from input->preds
    pred_len = max_seq_len - context_len + 1
    predicted = 0

    # Special handling for first window: predict all tokens
    first_seq_len = min(max_seq_len, len(token_list))
    yield [prefix_token, *token_list[: first_seq_len - 1]], token_list[:first_seq_len]
    predicted += first_seq_len

    while predicted < len(token_list):
        window_pred_len = min(len(token_list) - predicted, pred_len)
        window_end = predicted + window_pred_len
        yield (
            token_list[window_end - max_seq_len - 1 : window_end - 1],
            token_list[window_end - window_pred_len : window_end],
        )
        predicted += window_pred_len
