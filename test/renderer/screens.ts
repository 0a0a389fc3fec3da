/** The windows that every page must fit, in px. */
export const screens = [
  { width: 360, height: 740, touch: true, dark: false },
  { width: 360, height: 740, touch: true, dark: true },
  { width: 768, height: 900, dark: false },
  { width: 768, height: 900, dark: true },
  { width: 1440, height: 900, dark: false },
  { width: 1440, height: 900, dark: true },
] as const;
