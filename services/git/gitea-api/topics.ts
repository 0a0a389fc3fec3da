import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Repository } from '../repositories/repositories.ts';
import { zeroTime } from '../wire/time.ts';
import { readJsonBody, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'settings' | 'storage' | 'accessControl'>;

const maxTopics = 25;
const body = z.object({ topics: z.array(z.string()).max(maxTopics) });

/** Builds the routes of topics. */
export function topicRoutes({
  storage: { manager, repositories },
  accessControl: { lookup },
  settings,
}: Dependencies): readonly Route[] {
  const path = '/repos/:owner/:repo/topics';
  const getAdministered = (call: Call) => lookup.require(call.caller, getRepositoryName(call), 'admin');
  const set = async ({ id }: Repository, topics: readonly string[]) => {
    const normalized = [...new Set(topics.map((topic) => topic.trim().toLowerCase()))];
    if (normalized.length > maxTopics || normalized.some((topic) => !/^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic))) {
      throw new Problem('git.invalid', 422, 'Topic names are invalid');
    }
    await manager.change(id, { topics: JSON.stringify(normalized) });
    return noContent;
  };
  const route = (method: Route['method'], routePath: string, handle: Route['handle']): Route => ({
    method,
    path: routePath,
    scope: 'repository',
    signedIn: method !== 'GET',
    handle,
  });
  return [
    route('GET', path, async (call) =>
      ok({ topics: (await lookup.require(call.caller, getRepositoryName(call), 'read')).topics }),
    ),
    route('PUT', path, async (call) => set(await getAdministered(call), (await readJsonBody(call, body)).topics)),
    route('PUT', `${path}/:topic`, async (call) => {
      const repository = await getAdministered(call);
      return set(repository, [...repository.topics, call.params['topic'] ?? '']);
    }),
    route('GET', '/topics/search', async (call) => {
      const query = (call.query.get('q') ?? '').toLowerCase();
      const counts =
        settings.requireSignIn && call.caller.identity === undefined ? [] : await repositories.countTopics();
      const all = [...counts].filter(([topic]) => topic.includes(query)).toSorted(([, one], [, other]) => other - one);
      const page = parsePage(call.query);
      const topics = getPageItems(all, page).map(([topic_name, repo_count], index) => ({
        id: page.offset + index + 1,
        topic_name,
        repo_count,
        created: zeroTime,
        updated: zeroTime,
      }));
      return ok({ topics }, listHeaders(call, page, all.length));
    }),
    route('DELETE', `${path}/:topic`, async (call) => {
      const repository = await getAdministered(call);
      return set(
        repository,
        repository.topics.filter((topic) => topic !== call.params['topic']),
      );
    }),
  ];
}
