import { Problem } from '../../contracts/problem.ts';
import { causeOf } from '../domain/cause.ts';
import type { EngineAnswer } from './engine.ts';

/** A call of the engine. @throws Problem with what it says of a failure */
type Ask = (path: string, input: object) => Promise<EngineAnswer['body']>;
/** A remote as the engine's file has it, with its `type`; passwords are obscured in it. */
type RemoteSection = Readonly<Record<string, string>>;

interface Provider {
  readonly Name: string;
  readonly Options:
    readonly { readonly Name: string; readonly IsPassword: boolean; readonly DefaultStr?: string }[] | null;
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
  /no such host|connection refused|network is unreachable|no route to host|i\/o timeout|deadline exceeded|x509:|unable to authenticate|logon is invalid|logon failure|InvalidAccessKeyId|SignatureDoesNotMatch|unauthorized/i;
/** Once and no longer: a NAS locks out whoever comes with a wrong password again and again. */
const _config = { LowLevelRetries: 1, ConnectTimeout: '15s', Timeout: '30s' };

/**
 * Whether a remote works: many kinds speak to the server only when a folder is read.
 * @throws Problem `sync.remote` (422)
 */
export async function tryRemote(ask: Ask, fs: string | object): Promise<void> {
  try {
    await ask('operations/fsinfo', { fs, _config });
    await ask('operations/list', { fs, remote: '', opt: { noModTime: true, noMimeType: true }, _config }).catch(
      (error: unknown) => {
        if (!(error instanceof Problem) || error.code !== 'sync.remote' || decisive.test(error.detail)) throw error;
      },
    );
  } catch (error) {
    throw error instanceof Problem ? plainly(error) : error;
  } finally {
    // What was made for a try gives up at the first fault.
    await forgetPlaces(ask);
  }
}

function plainly(problem: Problem): Problem {
  if (problem.code !== 'sync.remote') return problem;
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
  const written: Record<string, string> = {};
  for (const [field, value] of Object.entries(parameters)) {
    const option = options.find(({ Name }) => Name === field);
    const isPassword = value !== '' && option?.IsPassword === true;
    written[field] = isPassword ? String((await ask('core/obscure', { clear: value }))['obscured']) : value;
    // An empty override is a value; an empty one in the file is none.
    tried[field] = value === '' ? (option?.DefaultStr ?? '') : written[field];
  }
  await tryRemote(ask, { ...tried, _name: name, _root: '' });
  // Some kinds would ask on after that, such as for another sign-in; what was given is written all the same.
  await ask('config/update', { name, parameters: written, opt: { noObscure: true, nonInteractive: true } });
  await forgetPlaces(ask);
}

/**
 * Lets an engine open remotes anew: what a short name, an encrypted or a joined one stands for goes on with the one before
 * (rclone 1.75, for five minutes after its last use), which may be another folder.
 */
export async function forgetPlaces(ask: Ask): Promise<void> {
  await ask('fscache/clear', {});
}
