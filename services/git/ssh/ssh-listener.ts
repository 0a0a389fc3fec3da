import type { Socket } from 'node:net';
import { readHostKeys, type HostKeyContext } from './host-keys.ts';
import { SshServer, type SshDependencies } from './server.ts';

/** Listener for SSH. It accepts connections once its server is started, which needs git and the host keys. */
export class SshListener {
  readonly #dependencies: SshDependencies;
  #server: SshServer | undefined;

  constructor(dependencies: SshDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts the server with its host keys. */
  async start(context: HostKeyContext): Promise<Disposable> {
    this.#server = new SshServer(this.#dependencies, await readHostKeys(context));
    return this.#server;
  }

  accept(socket: Socket): void {
    if (this.#server === undefined) socket.destroy();
    else this.#server.accept(socket);
  }
}
