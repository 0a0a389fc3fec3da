import { router } from '../../../state/router.svelte.ts';

/**
 * Returns whether the address hides changes of whitespace: `?w=1` as on GitHub, or `?whitespace=ignore-all` as in Gitea.
 */
export function hidesWhitespace(): boolean {
  return router.query.get('w') === '1' || (router.query.get('whitespace') ?? '').startsWith('ignore');
}

/** Changes the address, so that the link to a diff shows what its sender sees. */
export function setHidesWhitespace(hides: boolean): void {
  router.setQuery({ w: hides ? '1' : '', whitespace: '' }, { replace: true });
}
