/** Relative luminance (WCAG) above which black text has more contrast than white text. */
const blackTextLuminance = 0.179;

/** Returns the style sheet of an accent color such as `#0e7490`: the button, and a line at the top of the page. */
export function buildAccentStyle(color: string): string {
  const text = getLuminance(color) > blackTextLuminance ? '#000' : '#fff';
  return `:root:root{--accent:${color};--on:${text}}body{border-top:.375rem solid var(--accent)}`;
}

function getLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
