import { Problem } from '../../contracts/problem.ts';
import { causeOf } from '../domain/cause.ts';
import type { EngineAnswer } from './engine.ts';

/** A call of the engine. @throws Problem with what it says of a failure */
export type Ask = (path: string, input: object) => Promise<EngineAnswer['body']>;
/** A remote as the engine's file has it, with its `type`; passwords are obscured in it. */
export type RemoteSection = Readonly<Record<string, string>>;

interface Provider {
  readonly Name: string;
  readonly Options: readonly { readonly Name: string; readonly IsPassword: boolean }[] | null;
}

/** @throws Problem `sync.no_remote` (404) */
export async function remoteOf(ask: Ask, name: string): Promise<RemoteSection> {
  const all = (await ask('config/dump', {})) as Readonly<Record<string, RemoteSection>>;
  const section = Object.hasOwn(all, name) ? all[name] : undefined;
  if (section === undefined) throw new Problem('sync.no_remote', 404, 'There is no such remote.');
  return section;
}

/** What a server says that is not there, or does not let this account in; others cannot list their root and work all the same. */
const decisive =
  /no such host|connection refused|network is unreachable|no route to host|x509:|unable to authenticate|InvalidAccessKeyId|SignatureDoesNotMatch|unauthorized/i;

/**
 * Whether a remote works: many kinds speak to the server only when a folder is read.
 * @throws Problem `sync.remote` (422)
 */
export async function tryRemote(ask: Ask, fs: string | object): Promise<void> {
  await ask('operations/fsinfo', { fs });
  try {
    const opt = { noModTime: true, noMimeType: true };
    await ask('operations/list', { fs, remote: '', opt, _config: { LowLevelRetries: 1 } });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'sync.remote') throw error;
    if (decisive.test(error.detail)) throw plainly(error);
  }
}

function plainly(problem: Problem): Problem {
  const { error, detail } = causeOf(problem.detail);
  return detail === '' ? problem : new Problem(problem.code, problem.status, error, { cause: problem });
}

/**
 * Changes fields of a remote. It is looked at with them first, as the engine has it for overrides of one call: only what
 * answers is written, so that a typing error or a kill in the middle leaves the remote as it was.
 * @throws Problem `sync.no_remote` (404), `sync.remote` (422)
 */
export async function changeRemote(
  ask: Ask,
  name: string,
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  const { type = '' } = await remoteOf(ask, name);
  const { providers } = (await ask('config/providers', {})) as { readonly providers?: readonly Provider[] };
  const options = providers?.find(({ Name }) => Name === type)?.Options ?? [];
  const tried: Record<string, string> = {};
  for (const [field, value] of Object.entries(parameters)) {
    const isPassword = value !== '' && options.some(({ Name, IsPassword }) => IsPassword && Name === field);
    tried[field] = isPassword ? String((await ask('core/obscure', { clear: value }))['obscured']) : value;
  }
  await tryRemote(ask, { ...tried, _name: name, _root: '' });
  // Some kinds would ask on after that, such as for another sign-in; what was given is written all the same.
  await ask('config/update', { name, parameters: tried, opt: { noObscure: true, nonInteractive: true } });
  await forgetPlace(ask, type);
}

/** Lets an engine forget which folder a name of another one stood for: it goes on with the earlier one (rclone 1.75). */
export async function forgetPlace(ask: Ask, type: string): Promise<void> {
  // For other kinds it does so itself, and what runs keeps what it holds.
  if (type === 'alias') await ask('fscache/clear', {});
}
