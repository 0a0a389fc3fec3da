import * as m from '#messages/config-problems';
import { isDeepStrictEqual } from 'node:util';
import { Problem } from '../../../services/contracts/problem.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { checkDocument } from './check.ts';
import { readDocument, formatDocument, type Content } from './document.ts';
import { openSecret, sealSecret, type SettingsVault } from './sealing.ts';
import { isSealed, replaceSecrets } from './secrets.ts';
import { settingsSections, type Field } from './sections.ts';
import { currentVersion } from './migrations.ts';

export interface ExportOptions {
  /** Result of `Config.content()`. Values of the environment belong to the computer and are omitted. */
  readonly content: Content;
  readonly descriptors: readonly ServiceDescriptor[];
  /** Accounts and portable data of services by id; written unchanged. */
  readonly portable: Readonly<Record<string, unknown>>;
  /** Seals secrets in settings. Without it they are written in plain text. */
  readonly seal?: SettingsVault['seal'];
}

/** Returns all settings that differ from their default, and the portable parts, as the text of one file. */
export function exportConfig({ content, descriptors, portable, seal }: ExportOptions): string {
  const groups = settingsSections(descriptors).map(({ id, fields }) => {
    const values = id === 'host' ? content.host : (content.services[id] ?? {});
    const entries = fields
      .filter(({ name, defaultValue, acceptsNull }) => {
        if (!Object.hasOwn(values, name)) return false;
        return !isDeepStrictEqual(values[name], defaultValue) && (values[name] !== null || acceptsNull);
      })
      .map((field): [string, unknown] => [field.name, sealed(values[field.name], field, seal)]);
    return [id, Object.fromEntries(entries)] as const;
  });
  const used = groups.filter(([, values]) => Object.keys(values).length > 0);
  const host = used.find(([id]) => id === 'host')?.[1];
  const services = used.filter(([id]) => id !== 'host');
  return formatDocument({
    version: currentVersion,
    ...(host === undefined ? {} : { host }),
    ...(services.length === 0 ? {} : { services: Object.fromEntries(services) }),
    ...(Object.keys(portable).length === 0 ? {} : { portable }),
  });
}

export interface ImportOptions {
  readonly descriptors: readonly ServiceDescriptor[];
  /** Opens sealed secrets in settings; required only for a file that contains some. */
  readonly open?: SettingsVault['open'];
}

export interface Import {
  /** For `Config.replace`. */
  readonly content: Content;
  /** For the import of the services, by id. */
  readonly portable: Readonly<Record<string, unknown>>;
  readonly warnings: readonly SettingsProblem[];
}

/**
 * Parses an export (or a homeport.yaml) and opens its secrets; changes nothing.
 * @throws Problem `config.invalid` (422) with `fields`.
 */
export function importConfig(text: string, { descriptors, open }: ImportOptions): Import {
  const sections = settingsSections(descriptors);
  const document = readDocument(text);
  const { problems, warnings } = checkDocument(document, sections);
  const content = [...problems];
  const groups = sections.map(({ id, fields }) => {
    const values = id === 'host' ? document.content.host : (document.content.services[id] ?? {});
    const existing = fields.filter(({ name }) => Object.hasOwn(values, name));
    const entries = existing.map((field): [string, unknown] => [
      field.name,
      opened(values[field.name], field, open, content),
    ]);
    return [id, Object.fromEntries(entries)] as const;
  });
  const [first] = content;
  if (first !== undefined) {
    const detail = first.path === '' ? first.message : m.withPath({ path: first.path, reason: first.message });
    throw new Problem('config.invalid', 422, m.fileNotImported({ reason: detail }), {
      fields: Object.fromEntries(content.map(({ path, message }) => [path, message])),
    });
  }
  const { portable } = document.content;
  const host = groups.find(([id]) => id === 'host')?.[1] ?? {};
  const services = Object.fromEntries(groups.filter(([id]) => id !== 'host'));
  return { content: { host, services, portable }, portable, warnings };
}

function sealed(value: unknown, field: Field, seal: SettingsVault['seal'] | undefined): unknown {
  if (seal === undefined) return value;
  return replaceSecrets(value, field.place, (secret) => sealSecret(secret, field, seal));
}

function opened(
  value: unknown,
  field: Field,
  open: SettingsVault['open'] | undefined,
  content: SettingsProblem[],
): unknown {
  return replaceSecrets(value, field.place, (secret, path) => {
    if (!isSealed(secret)) return secret;
    try {
      if (open !== undefined) return openSecret(secret, field, open);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    const message = m.sealedInImport();
    content.push({ path: [field.path, ...path].join('.'), message });
    return undefined;
  });
}
