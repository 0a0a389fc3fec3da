import { execFile } from 'node:child_process';

export interface CommandResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it is not ok, one line; empty when it is. */
  readonly reason: string;
}

const passedOn = /^(PATH|HOME|USER|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE)$/i;
const network = /^(https?_proxy|all_proxy|no_proxy|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PIP_.*)$/i;

/** The part of our environment that a program outside gets: what it needs to run and to reach the network, no secret of ours. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && (passedOn.test(name) || network.test(name))) environment[name] = value;
  }
  return { ...environment, ...extra };
}

/** Runs a program to its end. Never throws; a time-out (ms) kills it and is a failure. */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<CommandResult> {
  return await new Promise((resolve) => {
    execFile(
      file,
      args,
      {
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        env: cleanEnvironment(options.environment),
        maxBuffer: 4 * 1024 * 1024,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        resolve({ ok: error === null, stdout, stderr, reason: error ? reasonOf(error, stderr) : '' });
      },
    );
  });
}

function reasonOf(error: Error & { killed?: boolean; code?: unknown }, stderr: string): string {
  if (error.killed === true) return 'it did not answer in time';
  if (error.code === 'ENOENT') return 'there is no such file';
  if (error.code === 'EACCES') return 'it may not be executed';
  const lines = stderr.trim().split('\n');
  return lines.findLast((line) => /error/i.test(line))?.trim() ?? lines.at(-1)?.trim() ?? error.message;
}
