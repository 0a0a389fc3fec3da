/** Text of the link field, which other parts of the page can fill in. */
class LinkDraft {
  text = $state('');
  /** Number of times that the field was filled in; it takes the focus on each change. */
  focusRequests = $state(0);

  fill(text: string): void {
    this.text = text;
    this.focusRequests += 1;
  }
}

export const linkDraft = new LinkDraft();
