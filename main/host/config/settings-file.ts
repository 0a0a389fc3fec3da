import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { checkDocument } from './check.ts';
import { emptyDocument, readDocument, type SettingsDocument } from './document.ts';
import { copiesOf, keepCopy, overwrite, readText, removeLeftovers, replaceText, type WriteStep } from './file.ts';
import type { Section } from './sections.ts';

/** What the file says at this moment. */
export interface Loaded {
  readonly document: SettingsDocument;
  /** Undefined when there is no file, or it cannot be read. */
  readonly text: string | undefined;
}

/** homeport.yaml on the disk. */
export class SettingsFile {
  /** Absolute. */
  readonly path: string;
  readonly #sections: readonly Section[];
  readonly #log: Log;
  readonly #step: WriteStep;
  /** The text this process wrote last, to tell its own from what others wrote. */
  #written: string | undefined;

  constructor(path: string, sections: readonly Section[], log: Log, step: WriteStep = () => undefined) {
    this.path = path;
    this.#sections = sections;
    this.#log = log;
    this.#step = step;
  }

  /** Makes the folder and clears what a write that was cut short has left. */
  async prepare(): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await removeLeftovers(this.path);
  }

  /** Never rejects: a file that cannot be read is a damaged document. */
  async load(): Promise<Loaded> {
    try {
      const text = await readText(this.path);
      return { document: text === undefined ? emptyDocument() : readDocument(text), text };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const problems = [{ path: '', message: `The file cannot be read: ${reason}.` }];
      return { document: { ...emptyDocument(), damaged: true, problems }, text: undefined };
    }
  }

  /**
   * Puts a text in the place of what was loaded. What someone else wrote and was bad or old is first kept aside for good.
   * @throws Problem `config.unwritable` (507); the file is then as it was.
   */
  async save(text: string, loaded: Loaded): Promise<void> {
    if (text === loaded.text) return;
    try {
      await this.#keepAside(loaded);
      await replaceText(this.path, text, this.#step);
    } catch (error) {
      const there = await this.load();
      if (there.text !== text) {
        await removeLeftovers(this.path).catch((leftover: unknown) => {
          this.#log.warn('leftovers of a failed save stay', { error: leftover });
        });
        const detail = `The settings could not be saved to ${this.path}; nothing was changed.`;
        throw new Problem('config.unwritable', 507, detail, { cause: error });
      }
      // The new text is in place and only making that durable failed; "nothing was changed" would be wrong.
      this.#log.warn('settings saved, but they may not outlast a power cut', { error });
    }
    this.#written = text;
  }

  /** Passes the texts of the copies beside the file through `change`. One that cannot be rewritten stays, and the log says so. */
  async rewriteCopies(change: (text: string) => string): Promise<void> {
    for (const path of await copiesOf(this.path)) {
      try {
        const text = await readText(path);
        const next = text === undefined ? undefined : change(text);
        if (next !== undefined && next !== text) await overwrite(path, next, this.#step);
      } catch (error) {
        this.#log.warn('a copy of the settings keeps secrets in plain text', { path, error });
      }
    }
  }

  async #keepAside({ document, text }: Loaded): Promise<void> {
    if (text === undefined || text === this.#written) return;
    if (document.migratedFrom !== undefined) await keepCopy(this.path, `v${document.migratedFrom}`, text, this.#step);
    else if (document.damaged || checkDocument(document, this.#sections).problems.length > 0) {
      await keepCopy(this.path, 'bad', text, this.#step);
    }
  }
}
