import { Module, type OnModuleDestroy } from '@nestjs/common';
import { AccessMode } from './access-mode.js';
import { CiBindingsController } from './ci-bindings.controller.js';
import { CiBindingsService } from './ci-bindings.service.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  controllers: [KeysController, MembersController, WorkspacesController, CiBindingsController],
  providers: [KeysService, MembersService, WorkspacesService, CiBindingsService],
})
export class IdentityModule implements OnModuleDestroy {
  constructor(private readonly mode: AccessMode) {}

  onModuleDestroy(): void {
    this.mode.close();
  }
}
