import { z } from 'zod';

/**
 * What of a delivery that takes several requests was confirmed already: pieces, files, rooms. A step has a name within its
 * delivery, and may have a short note of its answer that a later step needs.
 */
export interface Progress {
  getNote(step: string): string | undefined;
  confirm(step: string, note: string): void;
  /** Writes down what was confirmed since. */
  save(): Promise<void>;
}

/** Runs a step unless it was confirmed before. @returns what it noted. @throws what it throws, and then it was not confirmed. */
export type RunOnce = (step: string, work: () => Promise<unknown>) => Promise<string>;

const Notes = z.record(z.string(), z.string());
const maxNoteLength = 500;

/** Progress as it was stored, `''` for none, to be stored again by `write`. */
export function openProgress(stored: string, write: (stored: string) => Promise<void>): Progress {
  const steps = new Map(stored === '' ? [] : Object.entries(Notes.parse(JSON.parse(stored))));
  let saved = steps.size;
  return {
    getNote: (step) => steps.get(step),
    confirm: (step, note) => void steps.set(step, note.slice(0, maxNoteLength)),
    async save() {
      if (steps.size === saved) return;
      await write(JSON.stringify(Object.fromEntries(steps)));
      saved = steps.size;
    },
  };
}

/**
 * The steps of one piece. What was confirmed is written down before the next step begins, so that a delivery of one step
 * writes nothing.
 */
export function createSteps(progress: Progress | undefined, piece: string): RunOnce {
  return async (step, work) => {
    const stepName = `${piece}/${step}`;
    const storedNote = progress?.getNote(stepName);
    if (storedNote !== undefined) return storedNote;
    await progress?.save();
    const result = await work();
    const note = typeof result === 'string' ? result : '';
    progress?.confirm(stepName, note);
    return note;
  };
}
