import type { IconName } from '../../icons/icons.ts';

/** An entry of the command palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** Further words that match the command. */
  readonly keywords: readonly string[];
  /** Text that distinguishes commands with the same title. */
  readonly note?: string;
  /**
   * Is not offered again under "Used last", since running it a second time could be harmful or have the opposite
   * effect.
   */
  readonly once?: boolean;
  readonly run: () => Promise<void> | void;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
  /** The group may have very many entries and is listed last. */
  readonly many?: boolean;
}
