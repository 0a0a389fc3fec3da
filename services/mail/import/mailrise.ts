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
import { urlsOf } from './urls.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const names = ['mailrise.conf', 'mailrise.yaml', 'mailrise.yml', 'config.yaml', 'config.yml'];

/** The peer's configuration, as far as it means something here. */
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

/** `!env_var NAME default`: the variable's value, else the rest of the line. Without a `folder` an unset one is empty and noted. */
function environmentTag({ environment, folder }: Source, unset: string[]): ScalarTag {
  return {
    tag: '!env_var',
    resolve(text, onError) {
      const [, name = '', otherwise] = /^(\S*)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
      const value = environment[name] ?? otherwise;
      if (value === undefined && folder === undefined) unset.push(name);
      else if (value === undefined) onError(`The variable ${name} is not set.`);
      return value ?? '';
    },
  };
}

/** Says which destinations stay behind, and which need the Apprise engine; by scheme, since an address holds secrets. */
function unservedNotes(name: string, urls: readonly string[]): readonly string[] {
  const schemesOf = (by: 'engine' | 'nobody'): readonly string[] => {
    const found = urls.filter((url) => getDeliverer(url) === by).map((url) => /^[\w+.-]{1,40}(?=:\/\/)/.exec(url)?.[0]);
    return [...new Set(found.map((scheme) => (scheme === undefined ? 'an address without a scheme' : `${scheme}://`)))];
  };
  const [nobody, engine] = [schemesOf('nobody'), schemesOf('engine')];
  return [
    ...nobody.map((scheme) => `${name}: ${scheme} is not served here, so this destination was left out.`),
    ...(engine.length === 0
      ? []
      : [`${name}: ${engine.join(', ')} need the Apprise engine. Install it under Settings, Engines.`]),
  ];
}

/** Bare names get the peer's own domain where they are patterns: a name without one means any domain here. */
function addressOf(name: string): string {
  return name === '*' ? '*@mailrise.xyz' : name;
}

async function findFile(place: string): Promise<string> {
  for (const file of [place, ...names.map((name) => join(place, name))]) {
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() === true) return file;
  }
  throw new Problem('mail.nothing_to_take_over', 404, `There is no mailrise.conf in ${place}.`);
}

/**
 * Takes over a Mailrise configuration, from the file itself or its folder: recipients with their destinations and
 * templates, logins, encryption. Doing it twice changes nothing more.
 *
 * @throws Problem `mail.nothing_to_take_over` (404), `mail.unreadable` (422)
 */
export async function takeOverMailrise(place: string, environment: Environment): Promise<ImportResult> {
  const file = await findFile(place);
  const text = await readFile(file, 'utf8');
  return readMailrise(text, { name: file, folder: dirname(file), environment });
}

/** Where a configuration comes from. */
interface Source {
  /** What a complaint calls it. */
  readonly name: string;
  /** Where its other files lie; undefined: it came alone, and none of this machine's are read. */
  readonly folder: string | undefined;
  readonly environment: Environment;
}

/**
 * Reads a Mailrise configuration. One that came alone says nothing of files: what it includes and its certificate stay behind.
 *
 * @throws Problem `mail.unreadable` (422)
 */
export async function readMailrise(text: string, source: Source): Promise<ImportResult> {
  const { name: file, folder } = source;
  const unset: string[] = [];
  const read = Configuration.safeParse(parseYaml(text, source, unset));
  if (!read.success) throw new Problem('mail.unreadable', 422, `${file} is not a configuration of Mailrise.`);
  const { configs, listen, tls, smtp, import_code } = read.data;
  const notes = unset.map((name) => `The variable ${name} is not known here, so what it stands for is left out.`);
  const recipients = [];
  for (const [name, config] of Object.entries(configs)) {
    const { urls, left } = await urlsOf(config, folder);
    notes.push(...left.map((what) => `${name}: ${what}`));
    const usable = urls.filter((url) => isDestination(url) && getDeliverer(url) !== 'nobody');
    notes.push(...unservedNotes(name, urls));
    const { title_template, body_template, body_format } = Wording.catch(Wording.parse({})).parse(
      config['mailrise'] ?? {},
    );
    if (usable.length === 0 || !isPattern(name)) notes.push(`${name}: it has no destinations that can be used.`);
    else {
      recipients.push({
        address: addressOf(name),
        ...{ to: '', destinations: usable.join(' '), title: title_template, body: body_template },
        format: body_format ?? ('as it comes' as const),
      });
    }
  }
  const all = Object.entries(smtp?.auth?.basic ?? {}).map(([name, password]) => ({ name, password }));
  const logins = all.filter(({ password }) => password !== '');
  for (const { name } of all.filter((each) => !logins.includes(each))) {
    notes.push(`The login ${name} has no password and stays behind.`);
  }
  const inFolder = (path: string): string => (path === '' ? '' : resolve(folder ?? '', path));
  const encrypted = tls !== undefined && tls !== null && tls.mode !== 'off';
  if (encrypted && folder === undefined) {
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
      ? { certificateFile: inFolder(tls.certfile), keyFile: inFolder(tls.keyfile) }
      : {}),
    ...(listen?.port === undefined || folder === undefined ? {} : { port: listen.port }),
  };
  const fits = Settings.partial().safeParse(settings);
  if (!fits.success) {
    const path = fits.error.issues[0]?.path.join('.') ?? '';
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
    // The parser's own words may repeat a secret; its place is enough.
    const line = /at line (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1];
    const place = line === undefined ? '' : `: line ${line}`;
    throw new Problem('mail.unreadable', 422, `${source.name} cannot be read${place}.`);
  }
}
