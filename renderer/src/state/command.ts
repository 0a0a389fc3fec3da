import type { IconName } from '../parts/text/icons.ts';

/** Something that the palette does for a person who types its name. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** More words it is found by. */
  readonly words: readonly string[];
  /** What tells it from others of its name. */
  readonly note?: string;
  /** It is meant for one moment: given again by a slip it would do harm, or the opposite. */
  readonly once?: boolean;
  readonly run: () => Promise<void> | void;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
  /** There may be a great many of these: they stand below what was given its name by somebody. */
  readonly many?: boolean;
}
