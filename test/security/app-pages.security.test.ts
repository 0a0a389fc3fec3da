import { describeHostileAppPages, shapes } from './hostile-app-pages.ts';

describeHostileAppPages(['another site', 'another port', 'a sandbox'], shapes);
