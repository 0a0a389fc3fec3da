import type { GitRepositoryView } from '../../../../../services/contracts/git/api.ts';
import { publicAddresses } from '../../../state/public-addresses.svelte.ts';
import { isLoopback } from '../../../state/loopback.ts';
import { services } from '../../../state/services.svelte.ts';

/** Clone URLs of a repository as the device of the user reaches them. */
export class CloneAddresses {
  readonly #repository: () => Pick<GitRepositoryView, 'cloneHttp' | 'cloneSsh'>;

  constructor(repository: () => Pick<GitRepositoryView, 'cloneHttp' | 'cloneSsh'>) {
    this.#repository = repository;
    $effect(() => {
      if (services.phase === 'ready' && publicAddresses.phase === 'loading') void publicAddresses.load();
    });
  }

  get http(): string {
    const { cloneHttp } = this.#repository();
    return toDeviceAddress(cloneHttp, publicAddresses.address('git')) ?? cloneHttp;
  }

  /** Clone URL over SSH; null if SSH is off or not shared with the device. */
  get ssh(): string | null {
    const { cloneSsh } = this.#repository();
    return cloneSsh === null ? null : toDeviceAddress(cloneSsh, publicAddresses.address('git.ssh'));
  }
}

/** Replaces a loopback address with the shared one; returns null while nothing is shared. */
function toDeviceAddress(address: string, shared: string | null): string | null {
  if (publicAddresses.targetDevice === 'this' || !URL.canParse(address) || !isLoopback(address)) return address;
  if (shared === null) return null;
  const { pathname, protocol, username } = new URL(address);
  const base = shared.replace(/\/$/, '');
  const baseWithUser = username === '' ? base : base.replace('://', `://${username}@`);
  return protocol === new URL(base).protocol || protocol.startsWith('http') ? `${baseWithUser}${pathname}` : address;
}
