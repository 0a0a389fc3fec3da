import * as m from '#messages/host-problems';
import { readFileSync } from 'node:fs';
import { Problem } from '../../../services/contracts/problem.ts';

/** Secrets in the environment whose name with `_FILE` can name a file instead, such as a container secret. */
type SecretVariable = 'HOMEPORT_DATABASE_URL' | 'HOMEPORT_ADMIN_PASSWORD';

/**
 * Reads a secret from its variable, or from the file that the variable with the ending `_FILE` names.
 * @throws Problem `config.secret_file` (422) when the file cannot be read
 */
export function readSecret(
  environment: Readonly<Record<string, string | undefined>>,
  name: SecretVariable,
): string | undefined {
  const variable = `${name}_FILE`;
  const file = environment[variable] ?? '';
  if (environment[name] !== undefined || file === '') return environment[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    const detail = (): string => m.secretFileUnreadable({ file, variable, code });
    throw new Problem('config.secret_file', 422, detail, { cause });
  }
}
