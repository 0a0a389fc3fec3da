import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Repository } from '../repositories/repositories.ts';
import { never } from '../wire/time.ts';
import { bodyOf, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, type RestParts } from './api-dependencies.ts';

const most = 25;
const body = z.object({ topics: z.array(z.string()).max(most) });

/** What repositories are about. */
export function topicRoutes({ keeper, lookup, repositories, settings }: RestParts): readonly Route[] {
  const path = '/repos/:owner/:repo/topics';
  const adminOf = (call: Call) => lookup.need(call.visitor, named(call), 'admin');
  const set = async ({ id }: Repository, topics: readonly string[]) => {
    const plain = [...new Set(topics.map((topic) => topic.trim().toLowerCase()))];
    if (plain.length > most || plain.some((topic) => !/^[a-z0-9][-.a-z0-9]{0,34}$/.test(topic))) {
      throw new Problem('git.invalid', 422, 'Topic names are invalid');
    }
    await keeper.change(id, { topics: JSON.stringify(plain) });
    return noContent;
  };
  const route = (method: Route['method'], place: string, handle: Route['handle']): Route => ({
    method,
    path: place,
    scope: 'repository',
    signedIn: method !== 'GET',
    handle,
  });
  return [
    route('GET', path, async (call) => ok({ topics: (await lookup.need(call.visitor, named(call), 'read')).topics })),
    route('PUT', path, async (call) => set(await adminOf(call), (await bodyOf(call, body)).topics)),
    route('PUT', `${path}/:topic`, async (call) => {
      const repository = await adminOf(call);
      return set(repository, [...repository.topics, call.params['topic'] ?? '']);
    }),
    route('GET', '/topics/search', async (call) => {
      const words = (call.query.get('q') ?? '').toLowerCase();
      const counts = settings.requireSignIn && call.visitor.identity === undefined ? [] : await repositories.topics();
      const all = [...counts].filter(([topic]) => topic.includes(words)).toSorted(([, one], [, other]) => other - one);
      const page = pageOf(call.query);
      const topics = partOf(all, page).map(([topic_name, repo_count], at) => ({
        id: page.offset + at + 1,
        topic_name,
        repo_count,
        created: never,
        updated: never,
      }));
      return ok({ topics }, listHeaders(call, page, all.length));
    }),
    route('DELETE', `${path}/:topic`, async (call) => {
      const repository = await adminOf(call);
      return set(
        repository,
        repository.topics.filter((topic) => topic !== call.params['topic']),
      );
    }),
  ];
}
