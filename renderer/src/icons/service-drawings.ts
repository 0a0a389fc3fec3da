import type { BrandLogo } from './brand-logo.ts';

/**
 * Our own drawings for services and addons without a freely licensed logo. Each shows what the name says, and none is
 * the logo of the service.
 */
export const serviceDrawings: Readonly<Record<string, BrandLogo>> = {
  // Two arrows down: a real connection.
  realdebrid: {
    color: '#3d8c40',
    path: 'M7 3h3v8h3l-4.5 5.500L4 11h3zM14 3h3v8h3l-4.5 5.500L11.5 11H14zM4 19h16v2H4z',
  },
  // A globe with meridians.
  alldebrid: {
    color: '#d08a00',
    path: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2c1.3 0 2.8 2.3 3.3 6H8.700C9.2 6.3 10.7 4 12 4zM4.3 10a8 8 0 0 1 3.4-4.700A13 13 0 0 0 6.7 10zm0 4h2.400a13 13 0 0 0 1 4.700A8 8 0 0 1 4.3 14zm4.4 0h6.600c-.5 3.7-2 6-3.3 6s-2.8-2.3-3.3-6zm7.6 4.700a13 13 0 0 0 1-4.700h2.400a8 8 0 0 1-3.4 4.700zM17.3 10a13 13 0 0 0-1-4.7 8 8 0 0 1 3.4 4.700z',
  },
  // A crown.
  premiumize: { color: '#c0392b', path: 'M3 7l4.5 4L12 4l4.5 7L21 7l-2 11H5zM5 20h14v2H5z' },
  // Two links of a chain.
  debridlink: {
    color: '#2f6fb0',
    path: 'M9 7H7a5 5 0 0 0 0 10h2v-2H7a3 3 0 0 1 0-6h2zm6 0v2h2a3 3 0 0 1 0 6h-2v2h2a5 5 0 0 0 0-10zM8 11h8v2H8z',
  },
  // A box with an arrow into it.
  putio: { color: '#b58900', path: 'M11 2h2v9h3l-4 5-4-5h3zM3 13h3v5h12v-5h3v8H3z' },
  // A newspaper.
  easynews: { color: '#5b6ee1', path: 'M3 4h15v14h3V8h-2V6h4v14H3zm3 3v4h4V7zm6 0v2h4V7zm0 3v2h4v-2zm-6 4v2h10v-2z' },
  // A peak above a wave.
  pikpak: {
    color: '#4169e1',
    path: 'M12 3l8 12H4zm-9 14c3 0 3 2 6 2s3-2 6-2 3 2 6 2v2c-3 0-3-2-6-2s-3 2-6 2-3-2-6-2z',
  },
  // A box in perspective.
  torbox: {
    color: '#1f9d6b',
    path: 'M12 2l9 5v10l-9 5-9-5V7zm0 2.300L6.2 7.5 12 10.700l5.8-3.200zM5 9.200v6.600l6 3.400v-6.700zm14 0l-6 3.300v6.700l6-3.400z',
  },
  // Waves around a point.
  torrentio: {
    color: '#7048c8',
    path: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM5.6 4.200a11 11 0 0 0 0 15.600L7 18.400a9 9 0 0 1 0-12.800zm12.8 0L17 5.600a9 9 0 0 1 0 12.800l1.4 1.400a11 11 0 0 0 0-15.600z',
  },
  // A comet with its tail.
  comet: {
    color: '#0f86a8',
    path: 'M16 9a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM2 3l9 6.500L9.8 11zm2 8l5 2-.3 1.700zm7-8l4.5 4-2 .700z',
  },
  // Several sources that become one.
  mediafusion: { color: '#c2478f', path: 'M3 4h5l4 6 4-6h5v2h-4l-4 6v8h-2v-8L7 6H3z' },
  // A bolt.
  stremthrutorz: { color: '#3f7cac', path: 'M13 2L4 14h6l-1 8 9-12h-6z' },
  // Books on a shelf.
  library: { color: '#8a6d3b', path: 'M4 3h4v15H4zm6 0h4v15h-4zm6.5.600l3.9-1 3.6 14.3-3.9 1zM3 20h18v2H3z' },
};
