import type { WebAddress } from '../../contracts/git/web-addresses.ts';
import type { RouteDependencies } from '../components.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Html } from './html.ts';

/** Data for a page of a repository. */
export interface PageRequest {
  readonly deps: Pick<RouteDependencies, 'storage' | 'accessControl' | 'collaboration' | 'features'>;
  readonly repository: Repository;
  readonly address: WebAddress;
  readonly query: URLSearchParams;
  /** Address of the repository without a trailing slash. */
  readonly home: string;
}

export interface VisitorPage {
  readonly title: string;
  readonly tab: string;
  readonly body: Html;
}
