import { afterAll, beforeAll } from 'vitest';
import { aggregateCases } from './apiary/aggregates.ts';
import { answerCases } from './apiary/answers.ts';
import { openApiary, type Apiary } from './apiary/apiary.ts';
import { changeCases } from './apiary/changes.ts';
import { computedCases } from './apiary/computed.ts';
import { embedCases } from './apiary/embeds.ts';
import { functionCases } from './apiary/functions.ts';
import { relationshipCases } from './apiary/relationships.ts';

/** PostgreSQL for all cases of postgrest-js; each case leaves the rows unchanged. */
let apiary: Apiary;
beforeAll(async () => {
  apiary = await openApiary();
});
afterAll(() => apiary[Symbol.asyncDispose]());

for (const cases of [
  relationshipCases,
  embedCases,
  computedCases,
  functionCases,
  aggregateCases,
  changeCases,
  answerCases,
])
  cases(() => apiary);
