import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse, type ScalarTag } from 'yaml';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { ImportResult } from '../../contracts/service.ts';
import { getDeliverer } from '../../contracts/notify/native-schemes.ts';
import { formatCount } from '../../kit/format-count.ts';
import { isPattern } from '../domain/recipients.ts';
import { isDestination } from '../settings/recipients.ts';
import { Settings } from '../settings.ts';
import { readDestinations } from './urls.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const fileNames = ['mailrise.conf', 'mailrise.yaml', 'mailrise.yml', 'config.yaml', 'config.yml'];

/** Supported part of Mailrise's configuration. */
const Configuration = z.object({
  configs: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  listen: z.object({ port: z.number().optional() }).nullish(),
  tls: z
    .object({ mode: z.string().default('off'), certfile: z.string().default(''), keyfile: z.string().default('') })
    .nullish(),
  smtp: z
    .object({
      hostname: z.string().optional(),
      auth: z.object({ basic: z.record(z.string(), z.coerce.string()).default({}) }).nullish(),
    })
    .nullish(),
  import_code: z.unknown().optional(),
});

const Wording = z.object({
  title_template: z.string().default(''),
  body_template: z.string().default(''),
  body_format: z.enum(['text', 'markdown', 'html']).nullish(),
});

const tlsModes: Readonly<Record<string, Settings['tls']>> = {
  off: 'off',
  onconnect: 'implicit',
  starttls: 'starttls',
  starttlsrequire: 'required',
};

/**
 * Resolves `!env_var NAME default` to the variable's value or the default. Without a `folder`, an unset variable is
 * empty and reported.
 */
function environmentTag({ environment, folder }: Source, unset: string[]): ScalarTag {
  return {
    tag: '!env_var',
    resolve(text, onError) {
      const [, name = '', defaultValue] = /^(\S*)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
      const value = environment[name] ?? defaultValue;
      if (value === undefined && folder === undefined) unset.push(name);
      else if (value === undefined) onError(`The variable ${name} is not set.`);
      return value ?? '';
    },
  };
}

/**
 * Returns notes about destinations that are not supported or need the Apprise engine; by scheme, because URLs contain
 * secrets.
 */
function buildDestinationNotes(name: string, urls: readonly string[]): readonly string[] {
  const findSchemes = (by: 'engine' | 'nobody'): readonly string[] => {
    const schemes = urls
      .filter((url) => getDeliverer(url) === by)
      .map((url) => /^[\w+.-]{1,40}(?=:\/\/)/.exec(url)?.[0]);
    return [
      ...new Set(schemes.map((scheme) => (scheme === undefined ? 'an address without a scheme' : `${scheme}://`))),
    ];
  };
  const [unsupported, engine] = [findSchemes('nobody'), findSchemes('engine')];
  return [
    ...unsupported.map((scheme) => `${name}: ${scheme} is not served here, so this destination was left out.`),
    ...(engine.length === 0
      ? []
      : [`${name}: ${engine.join(', ')} need the Apprise engine. Install it under Settings, Engines.`]),
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
  throw new Problem('mail.nothing_to_take_over', 404, `There is no mailrise.conf in ${path}.`);
}

/**
 * Imports a Mailrise configuration from its file or folder: recipients with destinations and templates, logins and
 * encryption. Repeated imports change nothing.
 *
 * @throws Problem `mail.nothing_to_take_over` (404), `mail.unreadable` (422)
 */
export async function importMailrise(position: string, environment: Environment): Promise<ImportResult> {
  const file = await findFile(position);
  const text = await readFile(file, 'utf8');
  return parseMailrise(text, { name: file, folder: dirname(file), environment });
}

/** Origin of a configuration. */
interface Source {
  /** Name for messages. */
  readonly name: string;
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
  const parsed = Configuration.safeParse(parseYaml(text, source, unset));
  if (!parsed.success) throw new Problem('mail.unreadable', 422, `${file} is not a configuration of Mailrise.`);
  const { configs, listen, tls, smtp, import_code } = parsed.data;
  const notes = unset.map((name) => `The variable ${name} is not known here, so what it stands for is left out.`);
  const recipients = [];
  for (const [name, config] of Object.entries(configs)) {
    const { urls, notes: skippedNotes } = await readDestinations(config, folder);
    notes.push(...skippedNotes.map((what) => `${name}: ${what}`));
    const usable = urls.filter((url) => isDestination(url) && getDeliverer(url) !== 'nobody');
    notes.push(...buildDestinationNotes(name, urls));
    const { title_template, body_template, body_format } = Wording.catch(Wording.parse({})).parse(
      config['mailrise'] ?? {},
    );
    if (usable.length === 0 || !isPattern(name)) notes.push(`${name}: it has no destinations that can be used.`);
    else {
      recipients.push({
        address: toAddress(name),
        to: '',
        destinations: usable.join(' '),
        title: title_template,
        body: body_template,
        format: body_format ?? ('as it comes' as const),
      });
    }
  }
  const allLogins = Object.entries(smtp?.auth?.basic ?? {}).map(([name, password]) => ({ name, password }));
  const logins = allLogins.filter(({ password }) => password !== '');
  for (const { name } of allLogins.filter((each) => !logins.includes(each))) {
    notes.push(`The login ${name} has no password and stays behind.`);
  }
  const resolvePath = (path: string): string => (path === '' ? '' : resolve(folder ?? '', path));
  const isEncrypted = tls !== undefined && tls !== null && tls.mode !== 'off';
  if (isEncrypted && folder === undefined) {
    notes.push('Encryption stays as it is here: choose the certificate and its key in the settings.');
  }
  if (listen?.port !== undefined && folder === undefined) {
    notes.push(`It listened on port ${String(listen.port)}. The port here stays as it is; the settings change it.`);
  }
  const settings = {
    ...(recipients.length === 0 ? {} : { recipients }),
    ...(logins.length === 0 ? {} : { logins, signIn: 'required' }),
    ...(smtp?.hostname === undefined ? {} : { hostName: smtp.hostname }),
    ...(tls && folder !== undefined ? { tls: tlsModes[tls.mode] ?? 'off' } : {}),
    ...(tls?.certfile && folder !== undefined
      ? { certificateFile: resolvePath(tls.certfile), keyFile: resolvePath(tls.keyfile) }
      : {}),
    ...(listen?.port === undefined || folder === undefined ? {} : { port: listen.port }),
  };
  const validated = Settings.partial().safeParse(settings);
  if (!validated.success) {
    const path = validated.error.issues[0]?.path.join('.') ?? '';
    throw new Problem('mail.unreadable', 422, `${file} cannot be taken over: ${path} does not fit.`);
  }
  notes.unshift(`Taken over: ${formatCount(recipients.length, 'recipient')}, ${formatCount(logins.length, 'login')}.`);
  if (import_code !== undefined) notes.push('Its import_code stays behind: code of other programs is not run here.');
  return { settings, notes };
}

function parseYaml(text: string, source: Source, unset: string[]): unknown {
  try {
    return parse(text, { customTags: [environmentTag(source, unset)] });
  } catch (cause) {
    // The parser's message may contain a secret, so only the line number is reported.
    const line = /at line (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1];
    const place = line === undefined ? '' : `: line ${line}`;
    throw new Problem('mail.unreadable', 422, `${source.name} cannot be read${place}.`);
  }
}
