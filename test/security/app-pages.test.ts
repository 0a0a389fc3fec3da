import { describeHostileAppPages, shapes } from './hostile-app-pages.ts';

/** Tests the requests that need no preflight, from the origin that browsers treat as the same site. */
describeHostileAppPages(
  ['another port'],
  shapes.filter(({ name }) => ['a form whose text is JSON', 'fetch without CORS'].includes(name)),
);
