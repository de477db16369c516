// Outputs of more than 32 lines are folded, with a button that shows them whole. Without scripts they stand whole.
for (const block of document.querySelectorAll(".md-content .highlight")) {
  const lines = block.textContent.trimEnd().split("\n").length;
  if (lines <= 32) continue;
  const button = document.createElement("button");
  const fold = (folded) => {
    block.classList.toggle("folded", folded);
    button.textContent = folded ? `Show all ${lines} lines` : "Show fewer";
    button.setAttribute("aria-expanded", String(!folded));
  };
  button.type = "button";
  button.className = "fold-button";
  button.addEventListener("click", () => fold(!block.classList.contains("folded")));
  block.after(button);
  fold(true);
}
