import { tick } from 'svelte';

/** The sections of a long page by their headings: which one is read, and how one is led to. */
export class Sections {
  headings = $state.raw<readonly HTMLHeadingElement[]>([]);
  current = $state.raw<HTMLHeadingElement>();
  #led = false;

  /** The same by their groups, in the order of the page. */
  readonly groups = $derived.by((): readonly SectionGroup[] => {
    const titleOf = (heading: HTMLHeadingElement): string =>
      heading.closest<HTMLElement>('[data-group]')?.dataset['group'] ?? '';
    const titles = this.headings.map(titleOf);
    return titles
      .filter((title, at) => titles.indexOf(title) === at)
      .map((title) => ({ title, headings: this.headings.filter((heading) => titleOf(heading) === title) }));
  });

  /** Reads them of a page that is drawn. */
  read(root: HTMLElement): void {
    this.headings = [...root.querySelectorAll('h2')];
    this.current = this.headings[0];
  }

  /** To be called when the page was scrolled. */
  follow(): void {
    // Near the page's end the one that was led to may not reach the top; it is the one that is meant.
    if (this.#led) {
      this.#led = false;
      return;
    }
    const { scrollPaddingTop } = getComputedStyle(document.documentElement);
    const top = (parseFloat(scrollPaddingTop) || 0) + 24;
    this.current = this.headings.findLast((heading) => heading.getBoundingClientRect().top <= top) ?? this.headings[0];
  }

  /** Shows one, unfolded, with the keyboard at it unless that is to stay where it is. */
  async go(heading: HTMLHeadingElement, { takesKeyboard = true } = {}): Promise<void> {
    heading.querySelector<HTMLElement>('[aria-expanded="false"]')?.click();
    // What is unfolded makes room to scroll.
    await tick();
    if (takesKeyboard) heading.tabIndex = -1;
    const before = scrollY;
    heading.closest('section')?.scrollIntoView({ block: 'start' });
    this.#led = scrollY !== before;
    this.current = heading;
    if (takesKeyboard) heading.focus({ preventScroll: true });
  }
}

/** What a section serves, by the heading of its group. */
interface SectionGroup {
  readonly title: string;
  readonly headings: readonly HTMLHeadingElement[];
}
