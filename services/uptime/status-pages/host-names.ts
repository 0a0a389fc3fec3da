import type { Context } from '../../contracts/service.ts';
import type { StoredPage } from '../store/status-pages.ts';

/** Claims the domain names of the published status pages. */
export class HostNames {
  readonly #hosts: Context['hosts'];
  #claimed: Disposable | undefined;

  constructor(hosts: Context['hosts']) {
    this.#hosts = hosts;
  }

  /** Replaces the claimed names. */
  claim(pages: readonly StoredPage[]): void {
    this.#claimed?.[Symbol.dispose]();
    const published = pages.filter(({ config }) => config.published);
    this.#claimed = this.#hosts.add(published.flatMap(({ config }) => config.domainNameList));
  }
}
