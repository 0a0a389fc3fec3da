import { formatSettingsProblem } from './reason.ts';
import * as m from '#messages/config-problems';
import { createHash } from 'node:crypto';
import type { Document } from 'yaml';
import { Problem } from '../../../services/contracts/problem.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { readDocument, setField, type Content, type SettingsDocument } from './document.ts';
import { readText } from './file.ts';
import { resolveLayers } from './layers.ts';
import type { Section } from './sections.ts';

/** Validated content of the file that HOMEPORT_CONFIG names. */
export interface Provision {
  /** SHA-256 of the text in hex, by which each version is applied once. */
  readonly hash: string;
  readonly content: Content;
}

/** Applied parts of a provision by its hash; stored in homeport.yaml itself, so that both change in one write. */
export interface Provisioned {
  readonly settings: string | undefined;
  readonly portable: string | undefined;
}

/**
 * Reads and validates the file of HOMEPORT_CONFIG.
 * @throws Problem `config.missing` (404), `config.invalid` (422) with `fields`: starting without the administrator's
 * configuration would be worse than not starting.
 */
export async function readProvision(file: string, sections: readonly Section[]): Promise<Provision> {
  const text = await readText(file).catch((error: unknown) => {
    throw new Problem('config.missing', 404, () => m.provisionUnreadable({ file }), { cause: error });
  });
  if (text === undefined) throw new Problem('config.missing', 404, () => m.provisionNotFound({ file }));
  const document = readDocument(text);
  const findProblems = (): readonly SettingsProblem[] =>
    resolveLayers(sections, document, { environment: {}, commandLine: {} }).problems;
  const problems = findProblems();
  if (problems.length > 0) {
    // The host refuses to start, and the command line shows the reason in its own language.
    const detail = (): string => m.provisionInvalid({ file, reason: formatFirst(findProblems()) });
    throw new Problem('config.invalid', 422, detail, {
      fields: Object.fromEntries(problems.map(({ path, message }) => [path, message])),
    });
  }
  return { hash: createHash('sha256').update(text).digest('hex'), content: document.content };
}

function formatFirst([first]: readonly SettingsProblem[]): string {
  return first === undefined ? '' : formatSettingsProblem(first);
}

/** Merges the fields of a provision into the document; a field without a value (`port:`) returns to its default. */
export function mergeProvision(yaml: Document, { content, hash }: Provision, sections: readonly Section[]): void {
  for (const section of sections) {
    const values = section.id === 'host' ? content.host : (content.services[section.id] ?? {});
    for (const { name, acceptsNull } of section.fields) {
      if (!Object.hasOwn(values, name)) continue;
      const value = values[name];
      setField(yaml, section.path, name, value === null && !acceptsNull ? undefined : value);
    }
  }
  markProvisioned(yaml, 'settings', hash);
}

export function markProvisioned(yaml: Document, part: keyof Provisioned, hash: string): void {
  setField(yaml, ['provisioned'], part, hash);
}

export function getProvisioned({ yaml }: SettingsDocument): Provisioned {
  const text = (part: keyof Provisioned): string | undefined => {
    const value: unknown = yaml.getIn(['provisioned', part]);
    return typeof value === 'string' ? value : undefined;
  };
  return { settings: text('settings'), portable: text('portable') };
}
