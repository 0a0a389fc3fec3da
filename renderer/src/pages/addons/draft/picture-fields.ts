import * as m from '#messages/addons-rules';
/** Services for posters with ratings, with their fields. */
export const posterServices: readonly (readonly [
  id: string,
  title: () => string,
  fields: readonly (readonly [name: string, label: () => string, description: () => string])[],
])[] = [
  ['none', m.noAsTheAddonsHave, []],
  ['rpdb', () => 'Rating Poster Database', [['rpdbApiKey', m.key, m.fromRatingposterdbCom]]],
  ['top-poster', () => 'Top Posters', [['topPosterApiKey', m.key, m.fromApiTopStreamingStream]]],
  [
    'aioratings',
    () => 'AIOratings',
    [
      ['aioratingsApiKey', m.key, m.fromAioratingsCom],
      ['aioratingsProfileId', m.style, m.oneYouMadeThereEmpty],
    ],
  ],
  [
    'openposterdb',
    () => 'OpenPosterDB',
    [
      ['openposterdbApiKey', m.key, m.fromOpenposterdbComOrYour],
      ['openposterdbUrl', m.server, m.leaveEmptyToUseOpenposterdb],
      ['openposterdbParameters', m.parameters, m.suchAsLangDe],
    ],
  ],
];

/** Switches of the posters section. */
export const pictureFlags: readonly string[] = ['usePosterServiceForMeta', 'digitalReleaseFilter.enabled'];

/** Names of the text and selection fields in the configuration. */
export const pictureTexts: readonly string[] = [
  'posterService',
  'tmdbApiKey',
  ...posterServices.flatMap(([, , fields]) => fields.map(([name]) => name)),
];
