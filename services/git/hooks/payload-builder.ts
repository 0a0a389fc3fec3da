import type { Context } from '../../contracts/service.ts';
import type { Commit } from '../repositories/commits.ts';
import type { Owners } from '../repositories/owners.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { RepositoryAddress } from '../wire/commits.ts';
import { repositoryJson } from '../wire/repositories.ts';
import { toUserJson } from '../wire/users.ts';

export interface PayloadBuilderDependencies {
  readonly context: Pick<Context, 'appPages'>;
  /** Returns the configured public address. The setting is live. */
  readonly publicUrl: () => string;
  readonly owners: Owners;
  readonly repositories: Repositories;
  readonly ssh: (base: string) => string;
}

/** Builds the payload fields that all hooks have in common: the repository and the sender. */
export class PayloadBuilder {
  readonly #dependencies: PayloadBuilderDependencies;

  constructor(deps: PayloadBuilderDependencies) {
    this.#dependencies = deps;
  }

  /** Returns the base of addresses in payloads, for receivers on other computers as well. */
  get base(): string {
    const { context } = this.#dependencies;
    const publicUrl = this.#dependencies.publicUrl();
    if (publicUrl !== '') return publicUrl.replace(/\/+$/, '');
    return context.appPages.serviceForMessages('git') ?? 'http://127.0.0.1:3030';
  }

  getAddress({ owner, name }: Repository): RepositoryAddress {
    return { base: this.base, full: `${owner}/${name}` };
  }

  /** Returns the LFS address of a repository over HTTP. */
  getLfsAddress(repository: Repository): string {
    const { base, full } = this.getAddress(repository);
    return `${base}/${full}.git/info/lfs`;
  }

  /** Finds the accounts of the email addresses in commits. */
  findAccountsByEmail(commits: readonly Pick<Commit, 'author' | 'committer'>[]): Promise<ReadonlyMap<string, string>> {
    return this.#dependencies.owners.findAccountsByEmail(
      commits.flatMap(({ author, committer }) => [author.email, committer.email]),
    );
  }

  /** Builds the fields `repository` and `sender` of a payload. Must not run inside a transaction. */
  async buildCommonFields(repository: Repository, account: string) {
    const { owners, repositories, ssh } = this.#dependencies;
    const current = (await repositories.findById(repository.id)) ?? repository;
    const owner = await owners.getById(current.ownerId);
    return {
      repository: repositoryJson(current, owner, 'admin', { base: this.base, ssh: ssh(this.base) }),
      sender: toUserJson(await owners.getForAccount(account), this.base),
    };
  }
}
