import * as m from '#messages/mail-problems';
import * as texts from '#messages/mail-texts';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse, YAMLParseError, type ScalarTag } from 'yaml';
import type { z } from 'zod';
import { formatList } from '../../../messages/format.ts';
import { findOwn } from '../../contracts/find-own.ts';
import { Problem } from '../../contracts/problem.ts';
import type { ImportResult } from '../../contracts/service.ts';
import { getDeliverer } from '../../contracts/notify/native-schemes.ts';
import { isPattern } from '../domain/recipients.ts';
import { isDestination } from '../settings/recipients.ts';
import { Settings } from '../settings.ts';
import { readDestinations } from './urls.ts';
import { isRecord, toRecord } from '../../contracts/is-record.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const fileNames = ['mailrise.conf', 'mailrise.yaml', 'mailrise.yml', 'config.yaml', 'config.yml'];

type Fields = Readonly<Record<string, unknown>>;

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Sections of the peer's configuration that are supported here. Other sections are ignored. */
interface Configuration {
  readonly configs: Fields;
  readonly port: number | undefined;
  readonly tls: { readonly mode: string; readonly certfile: string; readonly keyfile: string } | undefined;
  readonly hostname: string | undefined;
  /** Passwords by name. */
  readonly logins: Fields;
  /** It names logins, readable or not. */
  readonly needsSignIn: boolean;
  readonly hasCode: boolean;
}

/** Reads each section on its own: one that has another form is left out and noted, and the others are read. */
function toConfiguration(root: Fields, notes: string[]): Configuration {
  const section = (parent: Fields, name: string, path = name): Fields => {
    const value = parent[name];
    if (isRecord(value)) return value;
    if (!isAbsent(value)) notes.push(texts.sectionSkipped({ name: path }));
    return {};
  };
  const text = (parent: Fields, name: string, path: string): string | undefined => {
    const value = parent[name];
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (!isAbsent(value)) notes.push(texts.textSkipped({ name: path }));
    return undefined;
  };
  const configs = section(root, 'configs');
  const [listen, tls, smtp] = [section(root, 'listen'), section(root, 'tls'), section(root, 'smtp')];
  const port = Number(text(listen, 'port', 'listen.port') ?? Number.NaN);
  const auth = section(smtp, 'auth', 'smtp.auth');
  const logins = section(auth, 'basic', 'smtp.auth.basic');
  const isUnreadable = (value: unknown): boolean => !isAbsent(value) && !isRecord(value);
  const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
  if (!isAbsent(listen['port']) && !isPort) notes.push(texts.portSkipped());
  // YAML of other programs reads `off` as false.
  const mode = (text(tls, 'mode', 'tls.mode') ?? 'off').replace(/^false$/, 'off');
  return {
    configs,
    port: isPort ? port : undefined,
    tls: isRecord(root['tls'])
      ? {
          mode,
          certfile: text(tls, 'certfile', 'tls.certfile') ?? '',
          keyfile: text(tls, 'keyfile', 'tls.keyfile') ?? '',
        }
      : undefined,
    hostname: text(smtp, 'hostname', 'smtp.hostname'),
    logins,
    needsSignIn: Object.keys(logins).length > 0 || isUnreadable(smtp['auth']) || isUnreadable(auth['basic']),
    hasCode: root['import_code'] !== undefined,
  };
}

const templateFields = new Set(['title_template', 'body_template', 'body_format']);
const bodyFormats: readonly unknown[] = ['text', 'markdown', 'html'];

/** Reads the templates of a recipient; a value of another kind is noted and replaced by the usual one. */
function toWording(name: string, templates: unknown, notes: string[]) {
  const fields = toRecord(templates);
  if (!isRecord(templates) && !isAbsent(templates)) notes.push(texts.templatesSkipped({ name }));
  const text = (field: string): string => {
    const value = fields[field];
    if (typeof value === 'string' || isAbsent(value)) return typeof value === 'string' ? value : '';
    notes.push(texts.templateSkipped({ name, field }));
    return '';
  };
  for (const field of Object.keys(fields))
    if (!templateFields.has(field)) notes.push(texts.optionIgnored({ name, field }));
  const format = fields['body_format'];
  if (!isAbsent(format) && !bodyFormats.includes(format)) notes.push(texts.formatUnknown({ name }));
  return {
    title: text('title_template'),
    body: text('body_template'),
    format: bodyFormats.includes(format) ? format : 'as it comes',
  };
}

const tlsModes: Readonly<Record<string, Settings['tls']>> = {
  off: 'off',
  onconnect: 'implicit',
  starttls: 'starttls',
  starttlsrequire: 'required',
};

/** `!env_var NAME default`: the variable's value, else the rest of the line. One that is not set is empty and noted. */
function environmentTag({ environment }: Source, unset: string[]): ScalarTag {
  return {
    tag: '!env_var',
    resolve(text) {
      const [, name = '', defaultValue] = /^(\S*)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
      const value = environment[name] ?? defaultValue;
      if (value === undefined) unset.push(name);
      return value ?? '';
    },
  };
}

function getScheme(url: string): string | undefined {
  return /^[\w+.-]{1,40}:\/\//.exec(url)?.[0];
}

/**
 * Returns notes about destinations that are not supported or need the Apprise engine; by scheme, because URLs contain
 * secrets.
 */
function buildDestinationNotes(name: string, urls: readonly string[]): readonly string[] {
  const findSchemes = (by: 'engine' | 'nobody'): readonly string[] => {
    const schemes = urls.filter((url) => getDeliverer(url) === by).map((url) => getScheme(url) ?? '');
    return [...new Set(schemes)];
  };
  const [nobody, engine] = [findSchemes('nobody'), findSchemes('engine')];
  const incomplete = urls.filter((url) => getDeliverer(url) !== 'nobody' && !isDestination(url));
  return [
    ...incomplete.map((url) => texts.destinationIncomplete({ name, scheme: getScheme(url) ?? '' })),
    ...nobody.map((scheme) =>
      scheme === '' ? texts.addressWithoutScheme({ name }) : texts.destinationUnsupported({ name, scheme }),
    ),
    ...(engine.length === 0 ? [] : [texts.destinationsNeedEngine({ name, schemes: formatList(engine) })]),
  ];
}

/** Expands `*` to Mailrise's own domain: a name without domain matches any domain here. */
function toAddress(name: string): string {
  return name === '*' ? '*@mailrise.xyz' : name;
}

async function findFile(path: string): Promise<string> {
  for (const file of [path, ...fileNames.map((name) => join(path, name))]) {
    const schemes = await stat(file).catch(() => undefined);
    if (schemes?.isFile() === true) return file;
  }
  throw new Problem('mail.nothing_to_take_over', 404, m.configurationNotFound({ path }));
}

/**
 * Imports a Mailrise configuration from its file or folder: recipients with destinations and templates, logins and
 * encryption. Repeated imports change nothing.
 *
 * @throws Problem `mail.nothing_to_take_over` (404), `mail.unreadable` (422)
 */
export async function importMailrise(path: string, environment: Environment): Promise<ImportResult> {
  const file = await findFile(path);
  const text = await readFile(file, 'utf8');
  return parseMailrise(text, { name: file, folder: dirname(file), environment });
}

/** Origin of a configuration. */
interface Source {
  /** Name for messages; undefined when the configuration was uploaded. */
  readonly name: string | undefined;
  /**
   * Folder of referenced files; undefined when the configuration was uploaded, in which case no files of this computer
   * are read.
   */
  readonly folder: string | undefined;
  readonly environment: Environment;
}

/**
 * Parses a Mailrise configuration. For an uploaded one, included files and certificates are skipped.
 *
 * @throws Problem `mail.unreadable` (422)
 */
export async function parseMailrise(text: string, source: Source): Promise<ImportResult> {
  const { name: file, folder } = source;
  const unset: string[] = [];
  const root: unknown = parseYaml(text, source, unset);
  if (!isRecord(root) || (!isAbsent(root['configs']) && !isRecord(root['configs'])))
    throw new Problem('mail.unreadable', 422, file === undefined ? m.uploadNotMailrise() : m.fileNotMailrise({ file }));
  const notes = unset.map((name) => texts.variableMissing({ name }));
  const { configs, port, tls, hostname, logins: passwords, needsSignIn, hasCode } = toConfiguration(root, notes);
  const recipients = await readRecipients(configs, folder, notes);
  const logins = readLogins(passwords, notes);
  const resolvePath = (path: string): string => (path === '' ? '' : resolve(folder ?? '', path));
  const isEncrypted = tls !== undefined && tls.mode !== 'off';
  if (isEncrypted && findOwn(tlsModes, tls.mode) === undefined) notes.push(texts.encryptionUnknown());
  if (isEncrypted && folder === undefined) {
    notes.push(texts.encryptionUnchanged());
  }
  if (port !== undefined && folder === undefined) {
    notes.push(texts.portUnchanged({ port: String(port) }));
  }
  const tlsMode = tls ? findOwn(tlsModes, tls.mode) : undefined;
  const settings = {
    ...(recipients.length === 0 ? {} : { recipients }),
    ...(logins.length === 0 ? {} : { logins }),
    // When logins were required, unreadable logins never open the gateway to visitors.
    ...(needsSignIn ? { signIn: 'required' } : {}),
    ...(hostname === undefined ? {} : { hostName: hostname }),
    ...(tlsMode !== undefined && folder !== undefined ? { tls: tlsMode } : {}),
    ...(tls?.certfile && folder !== undefined
      ? { certificateFile: resolvePath(tls.certfile), keyFile: resolvePath(tls.keyfile) }
      : {}),
    ...(port === undefined || folder === undefined ? {} : { port }),
  };
  const validSettings = removeInvalid(settings, notes);
  notes.unshift(
    texts.imported({
      recipients: countEntries(validSettings['recipients']),
      logins: countEntries(validSettings['logins']),
    }),
  );
  if (hasCode) notes.push(texts.importedCode());
  return { settings: validSettings, notes };
}

/** Reads the recipients that have usable destinations; the others are noted. */
async function readRecipients(configs: Fields, folder: string | undefined, notes: string[]) {
  const recipients = [];
  for (const [name, value] of Object.entries(configs)) {
    // Some configurations list destinations without a name.
    const config = isRecord(value) ? value : { urls: value ?? undefined };
    const { urls, notes: skippedNotes } = await readDestinations(name, config, folder);
    notes.push(...skippedNotes);
    const usable = urls.filter((url) => isDestination(url) && getDeliverer(url) !== 'nobody');
    notes.push(...buildDestinationNotes(name, urls));
    if (usable.length === 0 || !isPattern(name)) notes.push(texts.recipientSkipped({ name }));
    else {
      recipients.push({
        address: toAddress(name),
        ...{ to: '', destinations: usable.join(' ') },
        ...toWording(name, config['mailrise'], notes),
      });
    }
  }
  return recipients;
}

/** Reads the logins that have a password; the others are noted. */
function readLogins(
  passwords: Fields,
  notes: string[],
): readonly { readonly name: string; readonly password: string }[] {
  const allLogins = Object.entries(passwords).map(([name, password]) => ({
    name,
    password: typeof password === 'string' || typeof password === 'number' ? String(password) : '',
  }));
  const logins = allLogins.filter(({ password }) => password !== '');
  for (const { name } of allLogins.filter((each) => !logins.includes(each))) {
    notes.push(texts.loginSkipped({ name }));
  }
  return logins;
}

function countEntries(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** Removes invalid settings and list entries, each with a note. */
function removeInvalid(settings: Fields, notes: string[]): Fields {
  const shape: Readonly<Record<string, z.ZodType | undefined>> = Settings.shape;
  const validSettings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(settings)) {
    const schema = shape[name];
    const isValid = (candidate: unknown): boolean => schema?.safeParse(candidate).success !== false;
    if (!Array.isArray(value) || isValid(value)) {
      if (isValid(value)) validSettings[name] = value;
      else notes.push(texts.valueSkipped({ name }));
      continue;
    }
    const validMembers: unknown[] = [];
    for (const member of value as readonly Fields[]) {
      if (isValid([...validMembers, member])) validMembers.push(member);
      else notes.push(texts.entrySkipped({ name: String(member['address'] ?? member['name']) }));
    }
    if (validMembers.length > 0) validSettings[name] = validMembers;
  }
  return validSettings;
}

function parseYaml(text: string, source: Source, unset: string[]): unknown {
  try {
    // As in Mailrise, the last value of a repeated name is used, and unknown tags are plain text.
    const customTags = [environmentTag(source, unset)];
    return parse(text, { customTags, uniqueKeys: false, logLevel: 'error' });
  } catch (cause) {
    // The parser's message may contain a secret, so only the line number is reported.
    const line = cause instanceof YAMLParseError ? cause.linePos?.[0].line : undefined;
    throw new Problem('mail.unreadable', 422, formatUnreadable(source.name, line));
  }
}

function formatUnreadable(file: string | undefined, line: number | undefined): string {
  if (line === undefined) return file === undefined ? m.uploadUnreadable() : m.fileUnreadable({ file });
  const values = { line: String(line) };
  return file === undefined ? m.uploadUnreadableLine(values) : m.fileUnreadableLine({ file, ...values });
}
