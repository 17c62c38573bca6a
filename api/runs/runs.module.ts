import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { LogFollower } from './log-follower.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';

@Module({ imports: [QueueModule], controllers: [RunsController], providers: [LogFollower, RunsService] })
export class RunsModule {}
