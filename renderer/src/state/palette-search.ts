import type { IconName } from '../parts/text/icons.ts';

/** Something that the command palette has found. */
export interface Found {
  /** Once in the palette. */
  readonly id: string;
  readonly title: string;
  /** What tells it from others of its name: the first line of a message. */
  readonly note?: string;
  readonly icon: IconName;
  /** Where choosing it leads, or what it does. */
  readonly to?: string;
  readonly run?: () => Promise<void>;
}

export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
  /** There may be a great many of these: they stand below what was given its name by somebody. */
  readonly many?: true;
}

/** Answers what fits the words that were typed, soon: it is asked at each letter. `signal`: of the next one. */
export type Find = (words: string, signal: AbortSignal) => Promise<readonly FoundGroup[]>;

/** Begins what a page finds while the palette is open: what it reads whatever is typed, it reads once. */
export type BeginFind = () => Find;

/** Reads when it is first asked, and answers the same from then on; what failed is read again. */
export function once<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= read().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}

/** Whether all of the words are in the text. */
export function holds(text: string, words: string): boolean {
  const whole = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}
