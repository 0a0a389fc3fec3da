/** What stands in the field for links; other parts of the page put something there. */
class Draft {
  text = $state('');
  /** Counts the times that something was put there: the field takes the keyboard then. */
  given = $state(0);

  give(text: string): void {
    this.text = text;
    this.given += 1;
  }
}

export const draft = new Draft();
