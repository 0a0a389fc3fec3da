import { formatList } from '../../../messages/format.ts';
import * as m from '#messages/host-problems';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Problem } from '../../../services/contracts/problem.ts';

const run = promisify(execFile);
const commandTimeoutMs = 30_000;
const maxOutputBytes = 64 * 1024;

/** Environment variables that provide the vault's key, of which at most one may be set. */
const variables = ['HOMEPORT_VAULT_KEY', 'HOMEPORT_VAULT_KEY_FILE', 'HOMEPORT_VAULT_KEY_COMMAND'] as const;
type Variable = (typeof variables)[number];

/** The vault's key from outside of the data folder, in base64, and the variable that provided it. */
export interface ProvidedKey {
  readonly text: string;
  readonly source: Variable;
}

/**
 * Reads the vault's key from the environment: the key itself, a file such as a container secret, or the output of a
 * command that asks a key management service. Several hosts on one database share a key in this way, and no host stores it.
 *
 * @returns undefined when no variable is set.
 * @throws Problem `vault.key_unavailable` (500) without the key or the output of the command.
 */
export async function readProvidedKey(environment: NodeJS.ProcessEnv): Promise<ProvidedKey | undefined> {
  const sources = variables.filter((name) => (environment[name] ?? '') !== '');
  const [source] = sources;
  if (source === undefined) return undefined;
  if (sources.length > 1) throw buildUnavailableProblem(() => m.keyVariables({ variables: formatList(sources) }));
  const value = environment[source] ?? '';
  if (source === 'HOMEPORT_VAULT_KEY') return { text: value.trim(), source };
  const text =
    source === 'HOMEPORT_VAULT_KEY_FILE' ? await readKeyText(value) : await runKeyCommand(value, environment);
  return { text: text.trim(), source };
}

async function readKeyText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    throw buildUnavailableProblem(() => m.keyFileUnreadable({ file: path, code }), cause);
  }
}

/** Runs a command without a shell. Its arguments are separated by spaces; anything else belongs into a script. */
async function runKeyCommand(command: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const [file = '', ...args] = command.trim().split(/\s+/);
  try {
    const options = { env: environment, timeout: commandTimeoutMs, maxBuffer: maxOutputBytes, windowsHide: true };
    const { stdout } = await run(file, args, options);
    return stdout;
  } catch (error) {
    // The error of the child process contains its output, and therefore possibly the key.
    const { code, killed } = error as { readonly code?: string | number; readonly killed?: boolean };
    throw buildUnavailableProblem(() =>
      killed === true ? m.keyCommandTimeout({ file }) : m.keyCommandFailed({ file, code: String(code ?? 'unknown') }),
    );
  }
}

function buildUnavailableProblem(detail: () => string, cause?: unknown): Problem {
  return new Problem('vault.key_unavailable', 500, detail, { cause, retryable: false });
}
