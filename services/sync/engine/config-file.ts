import { access, chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Kysely } from 'kysely';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import { openStoredKey } from '../../kit/stored-key.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import type { Tables } from '../store/tables.ts';

const purpose = 'sync.engine-configuration';

/** The engine's configuration file with remotes and their secrets, encrypted by the engine. The vault holds its password. */
export class ConfigFile {
  readonly path: string;
  readonly #context: Pick<Context, 'children' | 'commit' | 'random' | 'vault'>;
  readonly #db: Kysely<Tables>;

  constructor(path: string, context: Pick<Context, 'children' | 'commit' | 'db' | 'random' | 'vault'>) {
    this.path = path;
    this.#context = context;
    this.#db = context.db;
  }

  /**
   * Creates the file if it is missing.
   * @returns the password of the file.
   * @throws Problem `sync.configuration` (503).
   */
  async open(program: string): Promise<string> {
    const password = await this.#password();
    const exists = await access(this.path).then(
      () => true,
      () => false,
    );
    if (!exists) await this.#create(program, password);
    return password;
  }

  /** Checks that a stored password can be read. @throws Problem `vault.key_unreadable` (503) */
  async verify(): Promise<void> {
    await this.#storedPassword();
  }

  async #storedPassword(): Promise<string | undefined> {
    const stored = await this.#db
      .selectFrom('keepsakes')
      .select('value')
      .where('name', '=', purpose)
      .executeTakeFirst();
    if (stored === undefined) return undefined;
    return openStoredKey(this.#context.vault, stored.value, { purpose, service: 'sync', name: 'remotes' });
  }

  async #password(): Promise<string> {
    const existing = await this.#storedPassword();
    if (existing !== undefined) return existing;
    const password = this.#context.random.text(40);
    const value = this.#context.vault.seal(password, purpose);
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.insertInto('keepsakes').values({ name: purpose, value }).execute(),
    );
    return password;
  }

  async #create(program: string, password: string): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    // Created under another name until it is encrypted: after a kill, an unencrypted file would remain unencrypted.
    const newFile = `${this.path}.new`;
    await writeFile(newFile, '', { mode: 0o600 });
    const child = await this.#context.children.start({
      name: 'engine configuration',
      file: program,
      args: ['--config', newFile, 'config', 'encryption', 'set'],
      shortLived: true,
    });
    child.stdout.resume();
    child.stderr.resume();
    child.stdin.end(`${password}\n${password}\n`);
    const { code } = await child.exited;
    if (code !== 0) {
      await rm(newFile, { force: true });
      throw new FailureProblem(503, failures.configuration.create({}));
    }
    await chmod(newFile, 0o600);
    await replaceFile(newFile, this.path);
  }
}
