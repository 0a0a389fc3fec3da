import * as m from '#messages/sync-problems';
import { Problem } from '../../contracts/problem.ts';
import { explainFailure, findExplanation, findRcloneFailure, type RcloneFailure } from '../domain/failure-cause.ts';
import type { EngineResponse } from './engine-client.ts';
import { getRcloneMessage } from './rclone-problem.ts';

/** Calls the engine. @throws Problem with the engine's error message. */
type CallEngine = (path: string, input: object) => Promise<EngineResponse['body']>;
/** Section of a remote in the engine's configuration, with its `type`. Passwords are obscured. */
type RemoteSection = Readonly<Record<string, string>>;

interface Provider {
  readonly Name: string;
  readonly Options:
    readonly { readonly Name: string; readonly IsPassword: boolean; readonly DefaultStr?: string }[] | null;
}

/** Returns the configuration of a remote. @throws Problem `sync.no_remote` (404). */
export async function getRemote(callEngine: CallEngine, name: string): Promise<RemoteSection> {
  const all = (await callEngine('config/dump', {})) as Readonly<Record<string, RemoteSection>>;
  const section = Object.hasOwn(all, name) ? all[name] : undefined;
  if (section === undefined) throw new Problem('sync.no_remote', 404, m.remoteNotFound());
  return section;
}

/** Other failures are ignored, because some servers cannot list their root folder. */
const fatalFailures: readonly (RcloneFailure | undefined)[] = ['unreachable', 'sign_in_rejected'];
/** Limits the check to a single attempt: a NAS locks out clients after repeated wrong passwords. */
const _config = { LowLevelRetries: 1, ConnectTimeout: '15s', Timeout: '30s' };

/**
 * Checks a remote by listing it: many backends contact the server only when a folder is read.
 * @throws Problem `sync.remote` (422) if the server is unreachable or rejects the sign-in.
 */
export async function checkRemote(callEngine: CallEngine, fs: string | object): Promise<void> {
  try {
    await callEngine('operations/fsinfo', { fs, _config });
    await callEngine('operations/list', { fs, remote: '', opt: { noModTime: true, noMimeType: true }, _config }).catch(
      (error: unknown) => {
        if (
          !(error instanceof Problem) ||
          error.code !== 'sync.remote' ||
          fatalFailures.includes(findRcloneFailure(getRcloneMessage(error)))
        )
          throw error;
      },
    );
  } catch (error) {
    throw error instanceof Problem ? toExplainedProblem(error) : error;
  } finally {
    // The instance created for this check would give up at the first error.
    await clearRemoteCache(callEngine);
  }
}

function toExplainedProblem(problem: Problem): Problem {
  if (problem.code !== 'sync.remote') return problem;
  const failure = { error: getRcloneMessage(problem), code: '' };
  if (findExplanation(failure) === undefined) return problem;
  return new Problem(problem.code, problem.status, () => explainFailure(failure).error, { cause: problem });
}

/**
 * Changes fields of a remote. The new values are checked first as overrides of one call and written only if the server
 * answers, so that a typing error or a kill leaves the remote unchanged.
 * @throws Problem `sync.no_remote` (404), `sync.remote` (422)
 */
export async function changeRemote(
  callEngine: CallEngine,
  name: string,
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  const { type = '' } = await getRemote(callEngine, name);
  const { providers } = (await callEngine('config/providers', {})) as { readonly providers?: readonly Provider[] };
  const options = providers?.find(({ Name }) => Name === type)?.Options ?? [];
  const overrides: Record<string, string> = {};
  const fileValues: Record<string, string> = {};
  for (const [field, value] of Object.entries(parameters)) {
    const option = options.find(({ Name }) => Name === field);
    const isPassword = value !== '' && option?.IsPassword === true;
    fileValues[field] = isPassword ? String((await callEngine('core/obscure', { clear: value }))['obscured']) : value;
    // An empty override is a value, but an empty entry in the file means the default.
    overrides[field] = value === '' ? (option?.DefaultStr ?? '') : fileValues[field];
  }
  await checkRemote(callEngine, { ...overrides, _name: name, _root: '' });
  // Some backends need further answers, such as another sign-in; the given fields are written anyway.
  await callEngine('config/update', { name, parameters: fileValues, opt: { noObscure: true, nonInteractive: true } });
  await clearRemoteCache(callEngine);
}

/**
 * Clears the engine's cache of open remotes: an alias, crypt or union remote continues to use its former target for five
 * minutes after its last use (rclone 1.75), which may be another folder.
 */
export async function clearRemoteCache(callEngine: CallEngine): Promise<void> {
  await callEngine('fscache/clear', {});
}
