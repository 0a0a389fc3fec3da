/** Services for posters with ratings, with their fields. */
export const posterServices: readonly (readonly [
  id: string,
  title: string,
  fields: readonly (readonly [name: string, label: string, description: string])[],
])[] = [
  ['none', 'No, as the addons have them', []],
  ['rpdb', 'Rating Poster Database', [['rpdbApiKey', 'Key', 'From ratingposterdb.com.']]],
  ['top-poster', 'Top Posters', [['topPosterApiKey', 'Key', 'From api.top-streaming.stream.']]],
  [
    'aioratings',
    'AIOratings',
    [
      ['aioratingsApiKey', 'Key', 'From aioratings.com.'],
      ['aioratingsProfileId', 'Style', 'One you made there. Empty: the usual one.'],
    ],
  ],
  [
    'openposterdb',
    'OpenPosterDB',
    [
      ['openposterdbApiKey', 'Key', 'From openposterdb.com or your own server.'],
      ['openposterdbUrl', 'Server', 'Leave empty to use openposterdb.com.'],
      ['openposterdbParameters', 'Parameters', 'Such as lang=de.'],
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
