import * as m from '#messages/config-problems';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { checkDocument } from './check.ts';
import { emptyDocument, readDocument, type SettingsDocument } from './document.ts';
import { listCopies, saveCopy, overwrite, readText, removeLeftovers, replaceText, type WriteStep } from './file.ts';
import type { Section } from './sections.ts';

/** Current content of the file. */
export interface LoadedSettings {
  readonly document: SettingsDocument;
  /** Undefined when the file does not exist or cannot be read. */
  readonly text: string | undefined;
}

/** homeport.yaml on disk. */
export class SettingsFile {
  /** Absolute path. */
  readonly path: string;
  readonly #sections: readonly Section[];
  readonly #log: Log;
  readonly #step: WriteStep;
  /** Text that this process wrote last, to detect changes by others. */
  #written: string | undefined;

  constructor(path: string, sections: readonly Section[], log: Log, step: WriteStep = () => undefined) {
    this.path = path;
    this.#sections = sections;
    this.#log = log;
    this.#step = step;
  }

  /** Creates the folder and removes temporary files of an interrupted write. */
  async prepare(): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await removeLeftovers(this.path);
  }

  /** Never rejects: an unreadable file becomes a damaged document. */
  async load(): Promise<LoadedSettings> {
    try {
      const text = await readText(this.path);
      return { document: text === undefined ? emptyDocument() : readDocument(text), text };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const problems = [{ path: '', message: () => m.fileUnreadable({ reason }) }];
      return { document: { ...emptyDocument(), damaged: true, problems }, text: undefined };
    }
  }

  /**
   * Replaces the loaded text. Invalid or outdated text that others wrote is first saved permanently.
   * @throws Problem `config.unwritable` (507); the file is then unchanged.
   */
  async save(text: string, loaded: LoadedSettings): Promise<void> {
    if (text === loaded.text) return;
    try {
      await this.#keepAside(loaded);
      await replaceText(this.path, text, this.#step);
    } catch (error) {
      const existing = await this.load();
      if (existing.text !== text) {
        await removeLeftovers(this.path).catch((leftover: unknown) => {
          this.#log.warn('temporary files of failed save not removed', { error: leftover });
        });
        const detail = (): string => m.settingsNotSaved({ path: this.path });
        throw new Problem('config.unwritable', 507, detail, { cause: error });
      }
      // The new text is in place and only its sync failed; "nothing was changed" would be wrong.
      this.#log.warn('settings saved but not synced', { error });
    }
    this.#written = text;
  }

  /** Rewrites the copies beside the file with `change`. A copy that cannot be rewritten remains and is logged. */
  async rewriteCopies(change: (text: string) => string): Promise<void> {
    for (const path of await listCopies(this.path)) {
      try {
        const text = await readText(path);
        const next = text === undefined ? undefined : change(text);
        if (next !== undefined && next !== text) await overwrite(path, next, this.#step);
      } catch (error) {
        this.#log.warn('settings copy not sealed', { path, error });
      }
    }
  }

  async #keepAside({ document, text }: LoadedSettings): Promise<void> {
    if (text === undefined || text === this.#written) return;
    if (document.migratedFrom !== undefined) await saveCopy(this.path, `v${document.migratedFrom}`, text, this.#step);
    else if (document.damaged || checkDocument(document, this.#sections).problems.length > 0) {
      await saveCopy(this.path, 'bad', text, this.#step);
    }
  }
}
