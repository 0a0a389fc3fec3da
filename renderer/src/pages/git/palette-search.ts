import * as m from '#messages/git';
import { gitApi } from '../../../../services/contracts/git/api.ts';
import { call } from '../../api/call.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';
import { buildRepositoryPath } from './repository-links.ts';

const maxResults = 6;

/** Finds repositories by name. */
const find: PaletteSearch = async (query, signal) => {
  const { repositories } = await call(gitApi.list, { query: { q: query, sort: 'updated' }, signal });
  const results = repositories.slice(0, maxResults).map((repository) => ({
    id: `repository-${repository.owner}-${repository.name}`,
    title: `${repository.owner}/${repository.name}`,
    icon: 'git' as const,
    to: buildRepositoryPath(repository),
  }));
  return [{ title: m.repositories(), results }];
};

export default (): PaletteSearch => find;
