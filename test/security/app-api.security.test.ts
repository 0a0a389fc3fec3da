import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallers, grantedServices, openOwnApi, type OwnApi } from './app-api-matrix.ts';

describe('every route of the app API', () => {
  let ownApi: OwnApi;
  beforeAll(async () => {
    ownApi = await openOwnApi(grantedServices);
  });
  afterAll(() => ownApi[Symbol.asyncDispose]());

  it.each(createCallers(grantedServices))('admits and refuses the caller $name as it declares', async (caller) => {
    expect(await ownApi.findMismatches(caller)).toEqual([]);
  });
});
