import { tick } from 'svelte';

/** Sections of a long page by heading, with the current one and navigation. */
export class Sections {
  headings = $state.raw<readonly HTMLHeadingElement[]>([]);
  current = $state.raw<HTMLHeadingElement>();
  #skipsNextScroll = false;

  /** Headings by group, in the order of the page. */
  readonly groups = $derived.by((): readonly SectionGroup[] => {
    const getTitle = (heading: HTMLHeadingElement): string =>
      heading.closest<HTMLElement>('[data-group]')?.dataset['group'] ?? '';
    const titles = this.headings.map(getTitle);
    return titles
      .filter((title, index) => titles.indexOf(title) === index)
      .map((title) => ({
        title,
        headings: this.headings
          .filter((heading) => getTitle(heading) === title)
          .map((heading) => ({ heading, label: heading.textContent.trim() })),
      }));
  });

  /** Collects the headings of a rendered page. */
  collect(root: HTMLElement): void {
    this.headings = [...root.querySelectorAll('h2')];
    this.current = this.headings[0];
  }

  /** Updates the current section after the page was scrolled. */
  updateCurrent(): void {
    // Near the end of the page the target of a navigation may not reach the top, but it remains current.
    if (this.#skipsNextScroll) {
      this.#skipsNextScroll = false;
      return;
    }
    const { scrollPaddingTop } = getComputedStyle(document.documentElement);
    const top = (parseFloat(scrollPaddingTop) || 0) + 24;
    this.current = this.headings.findLast((heading) => heading.getBoundingClientRect().top <= top) ?? this.headings[0];
  }

  /** Expands a section, scrolls to it and moves the focus unless `takesKeyboard` is false. */
  async scrollTo(heading: HTMLHeadingElement, { takesKeyboard = true } = {}): Promise<void> {
    heading.querySelector<HTMLElement>('[aria-expanded="false"]')?.click();
    // The expanded content makes the page high enough to scroll.
    await tick();
    if (takesKeyboard) heading.tabIndex = -1;
    const before = scrollY;
    heading.closest('section')?.scrollIntoView({ block: 'start' });
    this.#skipsNextScroll = scrollY !== before;
    this.current = heading;
    if (takesKeyboard) heading.focus({ preventScroll: true });
  }
}

/** Group of sections with its title. */
interface SectionGroup {
  readonly title: string;
  readonly headings: readonly { readonly heading: HTMLHeadingElement; readonly label: string }[];
}
