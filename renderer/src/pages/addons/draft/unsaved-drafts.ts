import type { Draft } from './configuration-draft.ts';

interface UnsavedDraft {
  /** Saved configuration as JSON; the draft is only valid for it. */
  readonly savedConfig: string;
  readonly draft: Draft;
}

/** Unsaved changes of configurations while the user visits other pages. */
const drafts = new Map<string, UnsavedDraft>();

const buildKey = (account: string, uuid: string): string => `${account}\n${uuid}`;

/** Stores the draft of an account; undefined deletes it. */
export function storeDraft(account: string, uuid: string, draft: UnsavedDraft | undefined): void {
  if (draft === undefined) drafts.delete(buildKey(account, uuid));
  else drafts.set(buildKey(account, uuid), draft);
}

/** Finds the draft of an account for the current state of a configuration. */
export function findDraft(account: string, uuid: string, savedConfig: string): Draft | undefined {
  const stored = drafts.get(buildKey(account, uuid));
  return stored?.savedConfig === savedConfig ? stored.draft : undefined;
}
