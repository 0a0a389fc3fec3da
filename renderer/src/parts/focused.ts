/** Puts the keyboard into a control when its view opens. */
export function focused(element: HTMLElement): void {
  element.focus({ preventScroll: true });
}
