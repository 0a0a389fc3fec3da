/** Whether the command palette is open; Control or Command and K opens it from anywhere. */
class Palette {
  open = $state(false);

  press(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
    event.preventDefault();
    this.open = !this.open;
  }
}

export const palette = new Palette();
