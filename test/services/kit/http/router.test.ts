import { describe, expect, it } from 'vitest';
import { Router, type RoutePattern } from '../../../../services/kit/http/router.ts';

const route = (method: RoutePattern['method'], path: string): RoutePattern => ({ method, path });
const find = (router: Router<RoutePattern>, method: string, path: string): unknown => {
  const match = router.find(method, path);
  return match === undefined ? undefined : [match.route.path, { ...match.params }];
};

describe('a router', () => {
  const router = new Router([
    route('GET', '/repos/:owner/:repo'),
    route('GET', '/repos/:owner/search'),
    route('PATCH', '/repos/:owner/:repo'),
    route('GET', '/repos/:owner/:repo/contents/*path'),
    route('GET', '/repos/:owner/:repo/commits/*ref/status'),
    route('GET', '/repos/:owner/:repo/commits/*ref/statuses'),
    route('GET', '/repos/:owner/:repo/git/commits/:sha'),
    route('GET', '/repos/:owner/:repo/git/commits/:sha.diff'),
    route(['PUT', 'POST'], '/hook'),
    route('*', '/any'),
  ]);

  it.each([
    ['a parameter', '/repos/mia/boat', ['/repos/:owner/:repo', { owner: 'mia', repo: 'boat' }]],
    ['a literal segment before a parameter', '/repos/mia/search', ['/repos/:owner/search', { owner: 'mia' }]],
    ['a slash at the end', '/repos/mia/boat/', ['/repos/:owner/:repo', { owner: 'mia', repo: 'boat' }]],
    [
      'an encoded slash and percent sign in a parameter',
      '/repos/a%2Fb/c%25d',
      ['/repos/:owner/:repo', { owner: 'a/b', repo: 'c%d' }],
    ],
    [
      'the rest of the path',
      '/repos/mia/boat/contents/src/a%20b.ts',
      ['/repos/:owner/:repo/contents/*path', { owner: 'mia', repo: 'boat', path: 'src/a b.ts' }],
    ],
    [
      'a wildcard before other segments',
      '/repos/mia/boat/commits/feature/x/statuses',
      ['/repos/:owner/:repo/commits/*ref/statuses', { owner: 'mia', repo: 'boat', ref: 'feature/x' }],
    ],
    [
      'the suffix of a segment',
      '/repos/mia/boat/git/commits/abc.diff',
      ['/repos/:owner/:repo/git/commits/:sha.diff', { owner: 'mia', repo: 'boat', sha: 'abc' }],
    ],
  ])('matches %s', (_case, path, match) => {
    expect(find(router, 'GET', path)).toEqual(match);
  });

  it.each([
    ['an unknown path', '/nothing'],
    ['an empty parameter', '/repos//boat'],
    ['an empty wildcard', '/repos/mia/boat/contents/'],
    ['a path whose end is missing', '/repos/mia/boat/commits/main'],
    ['malformed percent-encoding', '/repos/mia/%E0%A4%A'],
    ['another case', '/Repos/mia/boat'],
  ])('matches no route for %s', (_case, path) => {
    expect(find(router, 'GET', path)).toBeUndefined();
  });

  it('matches parameters of any length', () => {
    const long = 'x'.repeat(5000);
    expect(find(router, 'GET', `/repos/mia/${long}`)).toEqual(['/repos/:owner/:repo', { owner: 'mia', repo: long }]);
  });

  it('matches HEAD as GET, and lists the methods of a path', () => {
    expect(find(router, 'HEAD', '/repos/mia/boat')).toEqual(['/repos/:owner/:repo', { owner: 'mia', repo: 'boat' }]);
    expect(find(router, 'DELETE', '/repos/mia/boat')).toBeUndefined();
    expect(router.getAllowedMethods('/repos/mia/boat')).toEqual(['GET', 'PATCH']);
    expect(router.getAllowedMethods('/hook')).toEqual(['PUT', 'POST']);
    expect(router.getAllowedMethods('/nothing')).toEqual([]);
    expect(find(router, 'PROPFIND', '/any')).toEqual(['/any', {}]);
  });

  it('ignores the case of literal segments where the peer does', () => {
    const insensitive = new Router([route('GET', '/api/Push/:token')], { caseSensitive: false });
    expect(find(insensitive, 'GET', '/API/push/AbC')).toEqual(['/api/Push/:token', { token: 'AbC' }]);
  });

  it('refuses two routes with the same method and path', () => {
    expect(() => new Router([route('GET', '/a/:b'), route('GET', '/a/:b')])).toThrow(/declared twice/);
    expect(() => new Router([route('GET', '/a/*b/c'), route('GET', '/a/*d/c')])).toThrow(/declared twice/);
  });

  it('gives no parameter access to the prototype of objects', () => {
    const match = new Router([route('GET', '/:__proto__')]).find('GET', '/x');
    expect(Object.getPrototypeOf(match?.params ?? {})).not.toBe('x');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
