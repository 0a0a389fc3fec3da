import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { parseSshCommand } from '../domain/ssh-command.ts';
import type { LfsTickets } from '../lfs/tickets.ts';
import type { RepositoryAccess, Lookup } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { levels } from '../repositories/access.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { anonymousCaller, type Caller } from '../sign-in/caller.ts';
import { parseProtocol, type Transfer } from '../transfer/transfer.ts';
import type { Keys } from './keys.ts';

export interface SshDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'log'>;
  readonly keys: Keys;
  readonly signIn: SignIn;
  readonly lookup: Lookup;
  readonly transfer: Transfer;
  readonly tickets: LfsTickets;
  /** Returns the LFS address of a repository over HTTP. */
  readonly lfsAddress: (repository: Repository) => string;
}

/** Time limit for the sign-in, ms. */
const signInTimeoutMs = 30_000;
/** Maximum number of concurrent sessions in a connection. */
const maxSessions = 10;
const maxConnections = 200;

/** Offered algorithms. SHA-1 is disabled for message authentication, key exchange and host keys. */
const algorithms: ssh2.Algorithms = {
  hmac: {
    remove: ['hmac-sha1', 'hmac-sha1-etm@openssh.com', 'hmac-sha1-96', 'hmac-md5', 'hmac-md5-96'],
    append: [],
    prepend: [],
  },
  kex: {
    remove: ['diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1', 'diffie-hellman-group-exchange-sha1'],
    append: [],
    prepend: [],
  },
};

/** Client that signed in with a public key. */
interface SshIdentity {
  /** Public key in SSH wire format. */
  readonly blob: Buffer;
  /** Account of the key, or one caller for each repository with this deploy key. */
  readonly callers: readonly Caller[];
  readonly name: string;
  readonly key: string;
}

/** SSH server for git commands. Accounts sign in with their public keys. */
export class SshServer implements Disposable {
  readonly #dependencies: SshDependencies;
  readonly #server: ssh2.Server;
  readonly #connections = new Set<Connection>();
  /** Accepted sockets, also those whose client has not identified itself: the library does not report them yet. */
  readonly #sockets = new Set<Socket>();
  /** Time limits of clients that have not identified themselves, by address and port. */
  readonly #silentTimers = new Map<string, Disposable>();

  constructor(deps: SshDependencies, hostKeys: readonly string[]) {
    this.#dependencies = deps;
    this.#server = new ssh2.Server(
      { hostKeys: hostKeys.flatMap((text) => [...withoutSha1(text)]), ident: 'Homeport', algorithms },
      (connection, { ip, port }) => {
        this.#silentTimers.get(`${ip} ${String(port)}`)?.[Symbol.dispose]();
        this.#handleConnection(connection);
      },
    );
  }

  accept(socket: Socket): void {
    const { accounts, clock } = this.#dependencies.context;
    const { remoteAddress: address } = socket;
    if (this.#sockets.size >= maxConnections) {
      accounts.record({ event: 'rate_limited', address, service: 'git', detail: 'SSH connection' });
      socket.destroy();
      return;
    }
    const key = `${String(address)} ${String(socket.remotePort)}`;
    const timer = clock.after(signInTimeoutMs, () => socket.destroy());
    this.#sockets.add(socket);
    this.#silentTimers.set(key, timer);
    socket.once('close', () => {
      timer[Symbol.dispose]();
      this.#sockets.delete(socket);
      this.#silentTimers.delete(key);
    });
    this.#server.injectSocket(socket);
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.end();
  }

  #handleConnection(connection: Connection): void {
    const { clock, log } = this.#dependencies.context;
    this.#connections.add(connection);
    let identity: SshIdentity | undefined;
    let sessions = 0;
    const signInTimer = clock.after(signInTimeoutMs, () => connection.end());
    connection.on('error', (error) => log.debug('ssh connection failed', { error }));
    connection.on('close', () => {
      signInTimer[Symbol.dispose]();
      this.#connections.delete(connection);
    });
    connection.on('authentication', (attempt) => {
      this.#authenticate(attempt).then(
        (result) => {
          identity = result;
          if (result === undefined) attempt.reject(['publickey']);
        },
        (error: unknown) => {
          log.error('ssh sign-in failed', { error });
          attempt.reject();
        },
      );
    });
    connection.on('ready', () => signInTimer[Symbol.dispose]());
    connection.on('session', (accept, reject) => {
      if (identity === undefined || sessions >= maxSessions) return void reject();
      sessions += 1;
      const session = accept();
      session.on('close', () => (sessions -= 1));
      this.#handleSession(session, identity);
    });
    connection.on('request', (_accept, reject) => reject?.());
    connection.on('tcpip', (_accept, reject) => reject());
  }

  /**
   * Authenticates a client. The client first checks whether the key is accepted and then proves that it has the private
   * key.
   */
  async #authenticate(attempt: AuthContext): Promise<SshIdentity | undefined> {
    if (attempt.method !== 'publickey') return undefined;
    // Reject RSA signatures with SHA-1: clients sign with SHA-2 since OpenSSH 7.2.
    if (attempt.key.algo === 'ssh-rsa' && attempt.signature !== undefined && attempt.hashAlgo === undefined)
      return undefined;
    const { data } = attempt.key;
    const [row] = await this.#dependencies.keys.findByKey(data);
    if (row === undefined) return undefined;
    const identity = await this.#identify(data);
    if (identity === undefined) return undefined;
    if (attempt.signature === undefined) {
      attempt.accept();
      return identity;
    }
    const key = ssh2.utils.parseKey(row.text);
    if (key instanceof Error || attempt.blob === undefined) return undefined;
    if (key.verify(attempt.blob, attempt.signature, attempt.hashAlgo) !== true) return undefined;
    await this.#dependencies.keys.recordUse(row);
    attempt.accept();
    return identity;
  }

  /** Returns the access that a key grants now, or undefined if the key was removed or its account is disabled. */
  async #identify(blob: Buffer): Promise<SshIdentity | undefined> {
    const rows = await this.#dependencies.keys.findByKey(blob);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.account !== null) {
      const identity = await this.#dependencies.signIn.account(row.account);
      return (
        identity && {
          blob,
          callers: [{ ...anonymousCaller, identity, sshKey: row.id }],
          name: identity.account,
          key: row.title,
        }
      );
    }
    const callers = rows.map(({ id, repository_id, read_only, title }) => {
      return {
        ...anonymousCaller,
        sshKey: id,
        deployKey: { repository: repository_id ?? 0, readOnly: read_only === 1, title },
      };
    });
    return { blob, callers, name: row.title, key: row.title };
  }

  /** Finds a repository that the client may read, also by a former name. */
  async #findRepository(
    identity: SshIdentity,
    owner: string,
    name: string,
  ): Promise<{ caller: Caller; access: RepositoryAccess } | undefined> {
    const { lookup } = this.#dependencies;
    for (const caller of identity.callers) {
      const result = await lookup.find(caller, owner, name);
      if (result !== undefined) return { caller, access: result };
      const renamed = await lookup.findRenamed(caller, owner, name);
      const renamedMatch = renamed && (await lookup.find(caller, renamed.owner, renamed.name));
      if (renamedMatch !== undefined) return { caller, access: renamedMatch };
    }
    return undefined;
  }

  #handleSession(session: Session, identity: SshIdentity): void {
    let protocol: string | undefined;
    session.on('env', (accept, _reject, { key, val }) => {
      if (key === 'GIT_PROTOCOL') protocol = parseProtocol(val);
      // Clients send arbitrary variables and report an error if one is rejected.
      (accept as (() => void) | undefined)?.();
    });
    session.on('pty', (_accept, reject) => (reject as (() => void) | undefined)?.());
    session.on('shell', (accept) => {
      const channel = accept();
      channel.stderr.write(
        `Hi there, ${identity.name}! You've successfully authenticated with the key named ${identity.key}, ` +
          'but Homeport does not provide shell access.\n',
      );
      closeChannel(channel, 0);
    });
    session.on('exec', (accept, _reject, { command }) => {
      const channel = accept();
      channel.on('error', (error: unknown) => this.#dependencies.context.log.debug('ssh channel failed', { error }));
      this.#runCommand(channel, identity.blob, command, protocol).then(
        (code) => closeChannel(channel, code),
        (error: unknown) => {
          // The client closed the connection or its process was ended.
          if (channel.destroyed) return void this.#dependencies.context.log.debug('ssh client disconnected', { error });
          const isRefusal = error instanceof Problem && (error.status < 500 || error.status === 503);
          if (!isRefusal) this.#dependencies.context.log.error('ssh command failed', { error });
          channel.stderr.write(`error:\nerror: ${isRefusal ? error.detail : 'Internal error; see the log.'}\nerror:\n`);
          closeChannel(channel, 1);
        },
      );
    });
  }

  async #runCommand(channel: ServerChannel, blob: Buffer, text: string, protocol: string | undefined): Promise<number> {
    // The key may have been removed since the connection was opened.
    const identity = await this.#identify(blob);
    if (identity === undefined) throw new Problem('git.forbidden', 403, 'This key is no longer valid.');
    const command = parseSshCommand(text);
    if (command.kind === 'refused') throw new Problem('git.refused', 400, command.reason);
    const { owner, name } = command;
    const { transfer } = this.#dependencies;
    const target = await this.#findRepository(identity, owner, name);
    if (target === undefined) throw new Problem('git.unknown', 404, `Cannot find repository: ${owner}/${name}`);
    const { access, caller } = target;
    const { repository } = access;
    if (command.kind === 'lfs') return this.#authenticateLfs(channel, caller, repository, command.operation);
    const { program } = command;
    await transfer.ensureAvailable();
    const disconnected = new AbortController();
    channel.once('close', () => disconnected.abort());
    const conversation = { input: channel, output: writeWithoutEnd(channel), protocol, signal: disconnected.signal };
    if (program === 'upload-pack') return transfer.upload(repository, conversation, { stateless: false });
    if (program === 'upload-archive') return transfer.archive(repository, conversation);
    if (levels.indexOf(access.level) < levels.indexOf('write')) {
      throw new Problem('git.forbidden', 403, `${identity.name} is not allowed to push to ${owner}/${name}.`);
    }
    await transfer.advertise('receive-pack', repository, conversation, { end: false });
    const byDeployKey = caller.deployKey !== undefined;
    await transfer.receive(
      repository,
      { account: caller.identity?.account ?? identity.name, byDeployKey, isAdministrator: access.level === 'admin' },
      conversation,
    );
    return 0;
  }

  /** Sends the LFS address and a token to a Git LFS client. */
  async #authenticateLfs(
    channel: ServerChannel,
    caller: Caller,
    repository: Repository,
    operation: 'upload' | 'download',
  ): Promise<number> {
    const { lookup, lfsAddress, tickets } = this.#dependencies;
    await lookup.require(caller, [repository.owner, repository.name], operation === 'upload' ? 'write' : 'read');
    const { text, seconds } = tickets.issue(caller, operation);
    const answer = { header: { Authorization: `Bearer ${text}` }, href: lfsAddress(repository), expires_in: seconds };
    channel.write(JSON.stringify(answer));
    return 0;
  }
}

/**
 * Converts a host key for the library. The library would also offer SHA-1 signatures for an RSA key. A parsed key with
 * an explicit signature type is offered only with SHA-2.
 */
function withoutSha1(text: string): readonly ssh2.EncryptedPrivateKey[] {
  if (readKeyType(text) !== 'ssh-rsa') return [{ key: text, passphrase: '' }];
  return ['rsa-sha2-512', 'rsa-sha2-256'].map((type) => {
    const key: unknown = Object.assign(ssh2.utils.parseKey(text), { type });
    return { key: key as string, passphrase: '' };
  });
}

function readKeyType(text: string): string {
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? '' : key.type;
}

/** Wraps the channel so that the end of the output does not close it. The exit code is sent afterwards. */
function writeWithoutEnd(channel: ServerChannel): Writable {
  const output = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      channel.write(chunk, (error) => callback(error ?? undefined));
    },
  });
  channel.once('close', () => output.destroy());
  // The channel emits the same error.
  output.on('error', () => undefined);
  return output;
}

function closeChannel(channel: ServerChannel, code: number): void {
  if (channel.destroyed) return;
  channel.exit(code);
  channel.end();
}
