import type { Draft } from './configuration-draft.ts';

interface Kept {
  /** The configuration that was changed, as text: a draft of another one is no use. */
  readonly of: string;
  readonly draft: Draft;
}

/** What was changed of configurations and is not saved yet, while their person looks at other pages. */
const kept = new Map<string, Kept>();

const keyOf = (whose: string, uuid: string): string => `${whose}\n${uuid}`;

/** Keeps what this person changed; undefined forgets it. */
export function keepDraft(whose: string, uuid: string, draft: Kept | undefined): void {
  if (draft === undefined) kept.delete(keyOf(whose, uuid));
  else kept.set(keyOf(whose, uuid), draft);
}

/** This person's draft of a configuration as it is now, where one was left. */
export function keptDraft(whose: string, uuid: string, of: string): Draft | undefined {
  const found = kept.get(keyOf(whose, uuid));
  return found?.of === of ? found.draft : undefined;
}
