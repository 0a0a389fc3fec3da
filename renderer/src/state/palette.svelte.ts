/** Visibility of the command palette, which Ctrl+K or Command+K toggles on every page. */
class Palette {
  open = $state(false);

  handleKey(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
    event.preventDefault();
    this.open = !this.open;
  }
}

export const palette = new Palette();
