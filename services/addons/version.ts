/** Version of the addon in its manifest and in requests to other addons. */
export const addonVersion = '1.0.0';
