import { z } from 'zod';

const key = z.string().max(500).nullish();

/** Members of a configuration about pictures of films that show ratings. */
export const posterShape = {
  posterService: z.enum(['rpdb', 'top-poster', 'aioratings', 'openposterdb', 'none']).nullish().catch(null),
  rpdbApiKey: key,
  topPosterApiKey: key,
  aioratingsApiKey: key,
  /** A style that the person has made there. */
  aioratingsProfileId: z.string().max(200).nullish(),
  openposterdbApiKey: key,
  /** Of one's own server. */
  openposterdbUrl: z.string().max(2000).nullish(),
  /** Of the query, such as `lang=de`. */
  openposterdbParameters: z.string().max(1000).nullish(),
  /** Also what a player shows of a library and of what was begun. */
  usePosterServiceForMeta: z.boolean().nullish(),
};
