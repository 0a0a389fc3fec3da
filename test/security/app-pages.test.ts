import { describeHostileAppPages, shapes } from './hostile-app-pages.ts';

/** The shapes that no preflight holds back, from the place that browsers count as the same site. */
describeHostileAppPages(
  ['another port'],
  shapes.filter(({ name }) => ['a form whose text is JSON', 'fetch without CORS'].includes(name)),
);
