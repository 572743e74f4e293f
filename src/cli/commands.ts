/**
 * The composition of the command line: one entry for each command, whose file has its flags and its
 * help; it is loaded when it is needed.
 * Written by `.toolchain/composition.ts`; in `make minimal`, with fewer rooms.
 */
import type { Command, CommandTable, FailureExplainer } from './command.ts';

export const commands: CommandTable = new Map<string, () => Promise<Command>>(Object.entries({
  serve: async () => (await import('./serve/serve.ts')).serve,
  'seller create': async () => (await import('./admin/seller.ts')).createSeller,
  'seller invite': async () => (await import('./admin/invite.ts')).inviteSeller,
  'seller list': async () => (await import('./admin/seller.ts')).listSellers,
  'seller disable': async () => (await import('./admin/seller.ts')).disableSeller,
  'seller enable': async () => (await import('./admin/seller.ts')).enableSeller,
  'seller delete': async () => (await import('./admin/seller.ts')).deleteSeller,
  'seller reset-password': async () => (await import('./admin/account.ts')).resetPassword,
  'seller reset-totp': async () => (await import('./admin/account.ts')).resetTotp,
  'key create': async () => (await import('./admin/key.ts')).createKey,
  'key list': async () => (await import('./admin/key.ts')).listKeys,
  'key rotate': async () => (await import('./admin/key.ts')).rotateKey,
  'key revoke': async () => (await import('./admin/key.ts')).revokeKey,
  import: async () => (await import('./transfer/import.ts')).importProducts,
  export: async () => (await import('./transfer/export.ts')).exportProducts,
  'products list': async () => (await import('./remote/products.ts')).listProducts,
  'products get': async () => (await import('./remote/products.ts')).getProduct,
  'products lookup': async () => (await import('./remote/products.ts')).lookUpProducts,
  'products set': async () => (await import('./remote/products.ts')).setProduct,
  'products delete': async () => (await import('./remote/products.ts')).deleteProducts,
  'stock sync': async () => (await import('./transfer/stock-sync.ts')).syncStock,
  'stock set': async () => (await import('./remote/stock.ts')).setStock,
  'stock movements': async () => (await import('./remote/stock.ts')).listMovements,
  'imports list': async () => (await import('./remote/imports.ts')).listImports,
  'imports show': async () => (await import('./remote/imports.ts')).showImport,
  revert: async () => (await import('./remote/revert.ts')).revertChanges,
  'changes tail': async () => (await import('./remote/changes.ts')).tailChanges,
  'webhook list': async () => (await import('./remote/webhook.ts')).listWebhooks,
  'webhook create': async () => (await import('./remote/webhook.ts')).createWebhook,
  'webhook delete': async () => (await import('./remote/webhook.ts')).deleteWebhook,
  'webhook deliveries': async () => (await import('./remote/webhook.ts')).listDeliveries,
  'webhook retry': async () => (await import('./remote/webhook.ts')).retryWebhook,
  'webhook resend': async () => (await import('./remote/webhook.ts')).resendDelivery,
  'webhook listen': async () => (await import('./remote/webhook-listen.ts')).listenForWebhooks,
  'webhook test': async () => (await import('./remote/webhook.ts')).testWebhook,
  status: async () => (await import('./remote/status.ts')).showStatus,
  open: async () => (await import('./remote/portal.ts')).openPortal,
  openapi: async () => (await import('./remote/openapi.ts')).printOpenApi,
  'profile add': async () => (await import('./remote/profile.ts')).addProfile,
  'profile list': async () => (await import('./remote/profile.ts')).listProfiles,
  'profile remove': async () => (await import('./remote/profile.ts')).removeProfile,
  migrate: async () => (await import('./admin/migrate.ts')).migrate,
  doctor: async () => (await import('./admin/doctor.ts')).doctor,
  backup: async () => (await import('./backup/backup.ts')).backupCatalogue,
  restore: async () => (await import('./backup/backup.ts')).restoreCatalogue,
  'move-to': async () => (await import('./admin/move-to.ts')).moveTo,
  demo: async () => (await import('./serve/demo.ts')).demo,
  completion: async () => (await import('./completion.ts')).createCompletion(commands),
}));

/** What explains errors of commands; it is loaded when one fails. */
export const explainers: readonly (() => Promise<FailureExplainer>)[] = [
  async () => (await import('./remote/api-error.ts')).apiErrors,
];
